// For this program the headers of all programs of tests are compiled; it does nothing.
int main() {}
