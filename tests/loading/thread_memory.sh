# The library's static thread-local memory. A program that opens it while it runs has some 1600 bytes for all that it opens.
most=600
command -v readelf > /dev/null || { echo "no readelf to look with"; exit 77; }
size=$(readelf -lW "$1" | awk '$1 == "TLS" { print $6 }')
[ -n "$size" ] || { echo "$1 has no thread-local segment: what is looked at?"; exit 1; }
echo "$((size)) bytes of thread-local memory"
[ "$((size))" -lt "$most" ] || { echo "it must stay below $most: keep large objects behind a pointer that is made at first use"; exit 1; }
# Nor may it want another library's at a fixed place: that room is taken once other programs' libraries are there.
foreign=$(readelf -rW "$1" | awk '/TPOFF/ && $5 ~ /@/ { print $5 }')
[ -z "$foreign" ] || { echo "it wants thread-local variables of other libraries at a fixed place: $foreign"; exit 1; }
