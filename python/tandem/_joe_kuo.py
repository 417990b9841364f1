"""Direction numbers of Sobol sequences in up to 1,111 dimensions: data of Stephen Joe and Frances Kuo, from their set new-joe-kuo-6.21201.

S. Joe and F. Y. Kuo, Constructing Sobol sequences with better two-dimensional projections, SIAM J. Sci. Comput. 30, 2635-2654 (2008);
https://web.maths.unsw.edu.au/~fkuo/sobol/. The data are used under the licence that follows; the code below is tandem's.
"""

# Copyright (c) 2008, Frances Y. Kuo and Stephen Joe
# All rights reserved.
#
# Redistribution and use in source and binary forms, with or without modification, are permitted provided that the following
# conditions are met:
#
#     * Redistributions of source code must retain the above copyright notice, this list of conditions and the following disclaimer.
#
#     * Redistributions in binary form must reproduce the above copyright notice, this list of conditions and the following
#       disclaimer in the documentation and/or other materials provided with the distribution.
#
#     * Neither the names of the copyright holders nor the names of the University of New South Wales and the University of Waikato
#       and its contributors may be used to endorse or promote products derived from this software without specific prior written
#       permission.
#
# THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS ``AS IS'' AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO,
# THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT
# HOLDERS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED
# TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON
# ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT
# OF THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.

import base64

DIMENSIONS = 1111
BITS = 30

# For each degree s of the dimension's primitive polynomial: how many dimensions have it, and what the published table has for them, as
# bits one after another: `a` (s - 1 bits, the polynomial's inner coefficients), then m_2 to m_s without their last bit, which is 1, in 1 to
# s - 1 bits. m_1 is 1.
_TABLE = {
    1: (1, "AA=="),
    2: (1, "Aw=="),
    3: (2, "AZA="),
    4: (2, "AJM2"),
    5: (6, "AkoRIndm0A0Fey8="),
    6: (6, "DYeGj0qE24mOYrTszKU+"),
    7: (18, "AfbPmJ8x4hzji+RoDGjpkjqnFvj1VZo85iJon3gSBB0yXZTMcpTtYG6uW6RlCWot0rgNw2Hve3G8x9UO0A=="),
    8: (16, "HT+Zj0V3/r7AtKpZviaXaxhF79FoLMecfAnZQSUHM0UlR05x6ELLkOlyTo43rz7G1CFfhwwg3Vyxn7hCSPnFv/dXopatQg=="),
    9: (
        48,
        "CMuQvW7w20QbBCIQCiZYKrFosOez+RkVUPtFssVR2HO1L15soDvzTv00xG43Bs++8pO1vO2MUD47Lpq4BDFrX3ySSnVG4noVFKDUAUFSescH3tV8EqDKBVs7zDf/NeoL"
        "9i0/ZyQT6/dmhO3peZBtVjXVv1eggMNorHw8OcgxCJlOtGdXioHa//GI/HfaVZiRRALnxKmCi4OGT50Uy6RnCnq3vjKHrdFwydObBi7fI9G1KsWjYltnzLC84rnlDHje"
        "C/nmaawHwgAhJIvced6nBvHaZltUHX3KSiXhruOtGpnZTlMVA3hO5v84heauphNyKWzsulpbh88cbqD+7/RJRLOmz9r6SD1J",
    ),
    10: (
        60,
        "Ak5CS4t7lBrRTf/obzCcaDr+NkrCxyXD4Wp7GX0mEQglwG+U9DKT9SICP/HKs+KIrjTBL/BUMUdIwE5/ENfAvjbqQ/OaoepdsunPNyeJYC4RP7bufX6DqQ0mEjONTARm"
        "33yOCaqSJP8+rW0TTHDchncNhTwdG0Wa3iUKkZWdpxGVfbWtCIFyWvF8hjJcdYRsXua3ZOY9SqVMqnJZaL7yQ8c4aGgLOL1kpcfZYOm0MmeVZU/PQVmffcL6QoH4fpyz"
        "KznqYhJnBvLuYkhUgO6FbiBiU1T+07dpjbMf5WDGCkPywyaj4kk6Tcfh7RYlpe/uL6DxnhFuAvjALn5+bEZNsvokZpZ+4iZrVObIS1ABsA2IgLd7OtLe4xoNVrt+FiVK"
        "Pusv1a+TV3+hxZ7DOB/nNx3BPXnbz6yBYVEknMuzlxA708f00ZTJB8kul03YJt+WUm1QgM2xRbN1k98dhr4l2K/KT/X6u31U2elsfq42ye1jIwA5MusqaTXp7Fsj531w"
        "V9rlT9FRPP/Lz0X8y7a/gZhHY5ln",
    ),
    11: (
        176,
        "AK/ccPTgQnUBforrqHbxGMFVzRtyWTUuQLLKgyHkxazAjgD0Ote7E2hi9EBN2sbNHDI3Qjri7YQYHHeU8I3S9wUPbFitmeAIDojRjkOwNecLBKK0HHOVvbXCffjgv6Lv"
        "f3FSBibYNEXgQLDgjOKIejbEZ3Mx7sOOMNY0M2dWE2KNwhwJbT73usdajmebpXa13h7HUXWbS4UY20PX5CakAtqu4huErHyTpfypE3YAIb1q4PySAuQm6G4GlEoT7mRM"
        "3FPYJ3otkE+2n34TzARXG7TFzEomWWrDoyKYRScoy0ZrG1ACoKZ3eSKJ3+lbj3BhCncYDLmrlXjX+p36XX6CKRj3glgv9n4gu5diN5gjxX++QliGDHHsZWMlSWSmr88y"
        "pRBcifNb2zZLIqBrGbn8tqy7gw7M44eYVNBS+MR2NaWhlyVHSzyiwUGAUjbDH3Ep+E2bW4rQAxdd1RtKH8gYCz4iqStSlCfURkGKFFsSFQVXkIccVQkUZRnWJPdZ2pJI"
        "qnM/lMs+TBvdsbywVXymyM0WM76VqVPJgh1HnC7DCftkWBheLy7lCgqN6AxBc1qQoMr6Zy1GxU64JG3iipsEqZoex6a3kBhVQ8/jSesZHasqrVtARo0iFaSQOX2xXuSr"
        "UPX6mIxdqbW9bSeFX+ykgukWpI3k0dsNd0W799YYnsi8Xs1hpheVeV93uqLXfvo/MDrQSCfwy0xYR538CAt+/KxD4nPmaYnPtmXJYXV/Ob8TPqU3zehCtXGgSROrGfv1"
        "tNKTLAWSrbBdawhl1LpE0Ak14+Mm/U3ZhhsjIc2Xf0x/Tb2d8Rn6dW+W+/N9le4VKUuH9go876t1McWmmSkQ9QZC5IiggBAqkQtykZMQVvXkX7r7MSqT6YmNnbgLKUBh"
        "Sm9u8fPHbXHXP4eTjSQSKIvDI9s/rJBeUiQ17nlPApXNOz755nuQPLv/uH20NSwfGYCVQLzZpN3/uZ4gY0MyXBDz2hBlk9KJ1ISEeD2PgTTOp6n8VgkZ1TYq714wCkLU"
        "Iw171xrMlLWisME4jlE8cwiM5wnITUVXLfERXqRN697ffAencl+QMW4flTz5NWUohgOHzFycP9BqcQ1gclnHRo6CBCVxL83pajoYEf6Y3vFzMR+8m8zK4k4fKdc3Zpqo"
        "v6jvBiuzUbj8BLDhlgnFLyy52Ldf1OgqLO5zIIuye1Vrv0mYLOtAtArXlV9IbKHFFX0HKldvUdkk0FGES2VpNswO74SEflS0KLqtC6EBioNZWIDTkr79RxOIpoHKmCKq"
        "AKECo3sB31YGkZlaWoAyrFOAM4lfKzNW99yquO8PW2uIz3u2kG2PNkuxpHZA6rQbPkD9YgkjUQ2oStADkmg4Ct1DbbUM1pVzb2uRXv1LQ1+5F6Bd9rzZud12iOWbOGk9"
        "btqUmVDi5EK3gQ9v4yja8evOsIPpCRVabfWzza6kwxdrAlvRgGa0t4eHMBK1duH2NcQ8wWiIo69s4n79RtAb/D6xV8IH9FB+mDjNRaQsfc58PHHT92P5Dl1ORryJrInb"
        "qEMl8CLLh8aj8ZVnWkpp2rE7y/N37IvuU9XnFGRgg5NgPvPe5gLMFp4fOfVKE5d5hBX9APrWtnB5+3aSXVmZKuni008MzD+YbG+tqJUwcc7sMTnXbBmYeXLNBmz8nLWY"
        "BobFtuZOlpRIek3byoY9FGSyyN3xzdnJmDwu1wqOZ1P5PKZfjGT8SZ5JWhfMcXnSY7mvm+bK1c5j3C3j9cKt24Xv87a7U/c3CLG+6L20IBnd/IIfHugHqsIU/Mx/gg7i"
        "wd48j8/IJIsoMU1KY+XCfE3sAjT9823V8cl1KiF6ZyfyTcJUKj1uR6thcmeZntYqmNcK6wuPm8mHIl4r49/TqUSpvP9oY/LnD7KS4RSl+mZKuhIZTcM=",
    ),
    12: (
        144,
        "BS2PfKEdl9054DSAb51b6YC4LoHt9w1g7jeViAoPrT1lT2cjOfYgmKv1QSh6Gdx+BodrBe0/8EKDADrud+tgtbczLcIN3eWqygIz0fcR5rya2sHU7XpQkcWKaJY2I8US"
        "ROwkBKtnf9FBmCnjd3q9/XXB+AFXtXGRH+YZCcmLAfkhpJOBpLuEWqzR5vnsLWZnwwqrUv9veZF4lBs2drzIhmBBbfjsD63wQx2JqEsHfIx4bRskqMwGQawoj6JgVr/X"
        "Ujdu84erNBEogpHj1RDvH6QU+diZiY7aeJwBHW4E5IL8onjlgelZJ+DQlql5APPoEVw0Ydon7isktQsC3nIB/IeVd0pZfYhImlTyoElDDupE/rZ0MvUiGOv9gSEQCxtf"
        "xMgaaEldMfr2toZx8z63kzAXxrEz+xe4JSTEDgCpph+rqPUySSx/jcDCBFcwlr9V0nMpaE2NMN2o8rOjsePZvvVGZModTffdXlvdpp+pAYf9+64S4N9A6GMCnysfF4a/"
        "UUNhHd2cTN5XdbonKVRKUFleJlvRdjJlETGR9wyOjPOamFBQC5vW9HUk23YZTHOTJKUyLPA8HfYz0aUrFwbXkSxOiZOppSrheP+Iv1+RUPLOh+TXclbM2o7jgkUdCLok"
        "J9U00EXhWwD8hC6yc5k3Rlj4rEi1xbKt7NALxM1sLrwuQyWle6Q6TXcIC2IHbD25nivWK+skautjaLhglGofYEb98QmTI0KeK2e2ZxkPmVH2QPRLAsSWmssaJKXJ8RUW"
        "yCakEXwvkc1yrmi14U7IpfyGAdbNxW6zHPwYEGMbzjKd+1VcQ/BhnXQnGXm2s9TfBfOilY+qgaSe+dWd1cotvIC/ChVc8S2skWL7qTv5h62msqwI8elK7L2dWJQKT+4F"
        "ra3vk74X9hqaKCevgvTl6jRt4+o6hWp83Q0/k5smBC6rTaxtPqfrlCJFiM+F7uhm408S34RS1zUc07EYuHd5JRXWu1npR398zqaIk88L+ka2yDBi6pCtXBJrsspMW4mH"
        "3QuUE0tFRLTvk/J0srrVnJoeM7InZew2A86XQAFo3zFwOux1zCl6yomxF/GN8b+gFK9N5CdNjw9KnuVqclhQm/auLW0/s5/QJ3lGttqu1Z5ltNufpjjOtf0NKq7J0bZr"
        "oh9orz7KHOUd1yHHRlDw5Ke967zFimlKS1oMr7X/WtRfAa87dAnV//K0KA9YzcSUv6/Vw68bDvzk+Wgar0wlwN9xY8hd9YXGpbiPG4ypWuxNcFZdcZfuru1j1Lnjaq3k"
        "GLxbVx9g9H6QfcbXXIVIUl6gDkp8yumu1vs9yzydPXd+rOoD3fl9DUq8G2+LcjzOn3ed6fy7koF/GymOsBK+dMYrPxlKdYIUk16z/H9c27wWl9hDhal6HyPhOmT8XWx6"
        "UE4XExDOciv5iQyIeQ51G1/6QIvWL8n30YS9ZqEGBTZS9ORTvIJ2eoWy6nEOeSUS/1EXmJcsTTb9gfAdjMnJ7qKWUH1llOZyKtyKY/Hi3b88l1Pq+qCQztWaDGB7mFzU"
        "BboB0jyrl6BG0dcG1qFlSKoE4Ac6ZvVAVHPZSSVD9SmrWNALyeLACq4ddcEeS2wBuoAMbCpkLYpUpeihE2IMaokN14p8jnwpulkFarTHRo3hmWCoZOhFLOAnFzXm2B67"
        "9HfsuRPpyhO1tgpvD8oSm1I9oWqvKL5n0Bm6OzkyPfvzmsQkYhMqHo3To5XVroSCpmiTHcbKJMA4inmsWfEMOOEgwHiA5I+NlD6yCEpTUPd8nNOAQqealJsX7jVHG8X5"
        "wV7rH5hBhmjxWFu0dv3QlXXBxNQMGOvvaiGwJwHm7my/kk53AcgmIh8z",
    ),
    13: (
        630,
        "AA0Skpy8V9U6d9VIBPg4rEDs4Ze08tkBoHNpJ1PiwyId+0CnYjNUtoQ6pjT88DK7eXm909eY148QDeQobETHOlVLBLUEVQ4KkyvHp7szfsEaDzrDagcPbAhPAE9Qj6Pe"
        "9IZJECQoFLX74K8AwwQUVmMFcuA5GyudaWrVVwF3I1CdpyJRSDrBMF4xBN5PPUxPdh+sGFT0ug7VfSPASykGS+/k8cHOnmgzpcHCK2PerXXvDv/KUHlAm0KokMDrm0lU"
        "IZO9VNf/CzwiL1kIqhFS7R15bL4IioJTBqEx5Jh/m3+JcJf+jFYWtnILBlJIJ0HsrnEOPuu0QQ4KHBDcV98cqR/a6oLMWKJL5SQuPE9KkLXGyl8y6mrGw34wLxmOjWkb"
        "38YOQ1cMSr+0ZnqGQYfI4sMvqDCJwguAFFHDsM749PSAZHSydlboN9n0xbBdudkVCLEOADCF8MCdJb1GEgOOQpH9tcT3wOVO0OblK6WQI4Me3iY4O8jrHT4U9nGad6IP"
        "EvFeHOlErOvjksPiFY9vSj0yjxOGIP0N2edQx5to309wQwURkQ6xYF/9VQYRL/TYPSCou2oLM8RvkwRiaK/FQlZUQR7D5Co1RGhT2zdUSE+HUoImp7V9PyIS0iiqL3Za"
        "cbW9KcS73ub3egkJc+H9YTwmTtqbL6KCvbMAT+LoyCyaa3y17+gURKVh4uBULNbQJ0UvQ/9MDDLeFYAxUU0XxmdXMhPuq0wgVlqRr1YU80yRu8gV9A8NrDa32vjzC8WY"
        "MPCMwHoXJbdcYXdaFSmH/+yJCokwXuFjqe2lmSKQVSUX3uu2yu9hqpIPDQYJXdFaWLLrOyIH8ZMlIOgaEABkjf9QZWjhERhn3tIKN4kaOJUlrFcrClaA6waods1k/eY0"
        "8v3boaw1ty3BwPd9AG6YbdI9C7GrpOZwuhsbiqNZ/bjDUn0KKsb7YJmdaDBD7hPH4cNnxGDqJgUgD+TAcZd2jqnc85hshR4cqlE8BkQpAZcbr4dGFVAsNAty0s4HsdRm"
        "FfGyFgmBIkbsdjLi573SgCEM8ogdu0CBXnX71T8gbwd3y0k24Zk5rvOiIfDnrEIu0lULUDuQfbnZKJH76Guiv2cfxoR1x5B7p3eHAMgUYrEUwvzsg9vVggmU1Ji2prUV"
        "AUGIg+8eeQg6x+pOAF4hIpd8xHSoPZZC4shR/rAeKRQudYJoEh5Nn0NGMkDCqqf8ij0dijzpVzw5ZMkisvuPWdaTiw8xDcjDW8ZRKlQwK2rxwjaaotpwlDQfS3dUj+1C"
        "X09paSh/kS0kEP/TIPSkKzLuBkk3OpV35txfcZ5R0k5SLosgLLSEn/mIlpFY8Y7i0OEt/zwl+JPUzsO4+lCWHomDWU78L82vkWbqgmOVvov2jPn1eRtkmXzhi0SiM2lk"
        "fHQnH3Ap4fULNH9qZEoT9hQxzp+UBy+x8ovxElbkm+qrFESYo4qrtNpXJyAlz4wpD1HrFfyhxnTyZopZf6PuMe1qhQ2kUpwaNIsRw82m79Ycqn28jBBhwPlgCJsqrO4W"
        "FM8NK4iwugrEsDHBn+7BNsM3Aritj3X5rZLighfYrvYk7aa3Rt9cHxssObQ9zvIY6n5sR4sX0F+tA9ZkS3dzIsqrS/Ac4x/7adcAsyl8eT3SHjB9MKAs8pL1gBn847F/"
        "KEtfwIVxOq7WEZLVAt6abX8Q6pT7qGLEuJo/oI92MUff7Y8ucZJFogZn3GlYa4uu7VDdDTCFZMUigvV2zFSW6JBJVTEMwFvGjlnEJhKlNvUwJNsY03EDFggv8Uwg7yGg"
        "+a4YXlUBoxaCqYUlXNJLCxHox+WKHXSuV26rm5UyURMWZsxxA88EnQynlK2R9cUza4FwcyzYWO7RU3sdS278zRc9wZ2pN0GnrKEzv2uH26/WOO0nfkz3XQFF8Ff44Dl2"
        "40OBl11lqa51629w0lqKpHpmbb4BsDk0z/Peh3an3AOk7k1hruS9iquifvyVE1sXEsgEkHt/RwTg17rj818Vhx05Ek42HOBi4Cw8ox2WOM3WU+BvsnszsMz8k3pav89H"
        "PmbTxlOs4lUWjrfyT2r5Rdo5Q2ibTJ6FJR79XY525Oeem3YvGYvds6cTlYkbvvlJ/vgE6sRUEMCwhp33Blo64es2/OXIL1Jg/g7XS3TGse/8ZD0y47krhKvAjW3H2TPg"
        "7ws/LNrnQBaEyOQ8E090PcIi+Mb0348j/EXUvuzYQuEy09AZvjcLKOgh/R2k9w0H6yMvwH1dUDM+Ni/sYFZGAZNC5M+VgAVJoitFcmuMs+9U/CPAxZWiMr0k/d5dC50g"
        "06mhxCI/g3VkhJRF3JHDHlAOp7AlJgV8XsKnJAy5JTvoGMQ//0YxA/P9hyK3oJNW+4hBF8WAWgY8qNF3opBjKNQAxCR1SpBIdB2vb4ZF1QA+vX3ZB4qyA0h4E792Ne5C"
        "KZ6/XyFEYPFmkJDMbNakJU+XDFwcVDrC5VCGegqZbqidEJvOOlAe7ru2rcZFWhmfroyZNrFfGRFZHtz/BVPIUfE+NF++MTj2A6WdRsZlGZfA+yLwCHGlN7hGrF0qcyhi"
        "ACAlLRG8ja8WQPVOzVUJRHEXptX92sIRoDoNHToXEodwcO1WiCRH3Vd1VGvLsjJR79IRwrbgtFdku16MRIffqziQtoF8Q6Z1Ig8X9EzpMTKmMEdI1Qr191pYYZng8BJW"
        "gTtbtz2/NPD71Jp1+bxUTc9ZYOw5J/KihBg3zJKpkq5KB3s3Dmw3A3NY91KW4SsJb1c2gYzuhKoabWfC2iaecmvlLuM3AJpzfoGYEJNL6cggHKUbHlZLVdMAeAosXryt"
        "HOZXlMmlJOfaJPIQpDHVM8fOgOy8DsbKPJ9NeIMdChcsteCo0JNvlJE7uPzI6skZhN4eCQ6j/d0TbDo1OGbWqFVWbqyMOYpOuaEe90c4x+QPMdPno/4EzKKwgL72lPrA"
        "W1QFDa+ZuoVtQGqumWxEGPatkFpQfYD/9q5UXTKf0FQ7LxbGcy3VzkO9BRBNo8DINhErOw3tRn174JBsShxUMf9RqATRaZB402YkVJSYmBpJvwiRYKxc9TQYS34+IbHf"
        "0YHdTd+dAyLPXlb3xfFTh/P/wD4wibFH+xT15MeOSQd86WsBdT65ixgxaTiFLOt1VIa3VrPoR7ei8VdVRthjWxrt9V8vTlVj0wGlx4FOWeAiFWLIGgAh8nUQgy4JWvyY"
        "EQtTHa4EwDtW2tpAa/76g9JjqtXVjknp2OKy4yG+RXmAn7v6ZrdH6qpFYBohe3xf4EN+lB9YpcCVghdztg4rl5ZGG/+qf/CA+oKNxZKvWHoNyEcW7IKFZfpUhgsbKrza"
        "GDxZuZFDA4eG7plWmZaFjzLwVpyYXTPP5aSvtmZdEWm0kOx1bY7kx7KhSH0dVE5b8gGkZDBHT1+VE9cIAaDY0YgXrhy6hcuwUdlIfpNsV5Epc0N7g4TnNLUaW9tdbeIV"
        "IJSOxjVuy9dlXTpdc9JWfVmCVezsNxkZkCmQ6wdJfKWpA2DtUov8trZf6yEYO5YqCdmFGpgezg7srHZF3RjmhhDQ1esauteGyKZ1hUpn4iCVgYCwjdJhar46hcv+0lwT"
        "hFh+6IY+sjvCc84xFiCXTittZM93UYa5iZZot/5vvcLTiiVjgWQ2EmnD1Lvfe9kVKsTiP5Si33satkbrk1NjSCtNpzppkoPEfQRq9D9dZb1lGyV6E6+pDSMj9NlfAikA"
        "cp1YhZhh5l45xdWUUkHcjhPRmJwlCLmnwy3oeZdmgRqkGijGYjO1zFmu7FBHfT2+UFW7xnCsJ2Vcl07nq9XNnMycWvlH9BZZDUBnVRCj+BVKa2wI45ob/l5918IQTyDN"
        "loyys+m2+hW39q4FpRMaG9cNL/ljnttpcQsMDrw+9efwoppslqGl28FoFk3SVp1j2LhP+b/+ncvNqI91tAIKUhUHjcNq22BUJErDfzi2EtrPvusJ8bhRREfEJrq1mmVj"
        "USTwSSkFsR/lycnXd29/RQ9scyD01mfb6kvIAVtMopQUBNpSA+unVtV25BBQR8gQE6zltr7CMAxPsVE28tBvFGj8KITRFNxS/pviVmyNpRRkrlrZZv46Z+pCABQlEWd9"
        "wMhXlOeLWLGPcRJwnt3TsxeybHhjFhwpLiYEOuwFIu4qJxSiib6CMLnrC84JySlZlQ95Apf3GqRydxWcfcVPE8C091y2QVZwsLrzS2rcty4sChB/h3HfgPZxzAl56Qe1"
        "0C0bB3JzVyf+wc+DHJNNh90f/I+lqrJHl+jcx0gLiL8RnY9QxxG90t/yRuo6xtEs3EF06AkzjJZn9OUJll1WGM43N8KoKG0NZ1mbjMrgP4r1eTWh1w82SiE31TOmY+V2"
        "/HbRpHC+l4jlZd30gJxOA5cwaYx1J346/G25lr1BWJ994Lou9Ype0NsWkyB4TDYY9vKxqZgKfh4ghiZ5Avt/sFJBZ4vYnNqm6pJjw6Ot58A/CdIKMO59tMV6C4EZo281"
        "NA2nat6XfNOXQyty3/xZ56Zg31wPaB4SkGQ56wekFjgk/ue39gp68yIXwFdzEfSRIp7LO0v6HyR1c/tFh7Sokz+OVY2vnhxt8pyqYO0DAYFtPx59J1HI/0bqbiBQrh9f"
        "hsvTljT8lukI59gejCG8YE3WnPiF+dvJNdp8xEMlouZ+5e0I+6HJjpzCJt/MtO1NPa+5mMMtV/ax4BfkCcX3XS9R/qA7lUHUUmNvW6B//0aGOrvC0R0H9qAMv051u0vf"
        "zbQimApnB3f5kcdlFzYOAzdOTx1IBVsGAVqBfDrWmF5zG2oH02CQ5fKc7qtmKcmoiCf0swmvEX+WHuwqDPouLdUTGQsz4wqDzHN52CjXR+EfvOD8iqQwX5rz1jZrKEiC"
        "hzboClhHcJNiFDEVrNZW4v0AFi6FpAZbEnn1zE0146F9LxhYMbY3XrXoiGACO4dMKVP0y8PGGkU6amjcfXo8Du+Gyn3dAbbyxzCW4yHIawgU+2f8T4BgSHdErwPYnDhe"
        "DvtOIKdoXdulrrB9Z+GIfCR5c024VlodAGJpR8LUdi/fuGRQ6KPyaHrC6bhoXSJyKZBbfqsJts8O746K+9qAZ9mSE215ViLGlsFD2LH2Dcfe6LiE6iRkKQwiC4d6L3h8"
        "l6r7Uq7Gpq2NHTIwxhFmWOLYzaNS14G2i4V7htsqSNvHP7xKDMrAwXjOOKAuYnc29Vb7hzeOTVVGSXdxrEdzgOO28tW5qoPrSw7e+PB9VYpx+UfXxakuPWhFLV+Js8/S"
        "zZePY94ePH1rxnnSDOPkTzxjqxhyHXwKyP/i3Xy6O1qGytc2QRtHTrT/jUMpGmGQdVpWJEp3d1ocQaQ7Mut/29y/qHaDaRMPS3oKLQuL2x2WRwXYY1xnkFK52BKSXJpH"
        "sYhmcj4KrmSku06qo2Cn8OENKSzNiMqCuag9XmkuTIdLI7chDu4UTV+UB1LEbVTRXKyJaqUluqpEJFZhHanb6Uy79JB0rtInrqqeU+KbUb2Bt//5MYqVRlfonn+MnLdd"
        "o+VtRsL3Hc3X9xk/6V3nJf7xlZHj37WyWFz5cD8HQTawOs+WuS+97iQufXaJQGW0Y4NWSEuYE4eRmXOX5F64ZZDOUKD2YO6W6my0R6e4sCyYo8Uo+xiEXznrAOZdu2ax"
        "fF9z8Hn2Oai4Ti4kPRvYImsua7HL3ijhMvpfwJOboyU46rVwLfZFOycswsPnk7WHxXjaWc0QKbO/nqtjy36udWBobPZAAz3WqFSdyVOU7i8KykOTe6eBlcIbXJIKto+M"
        "eeOGaw4BTAmWCh5mep0nM15SGgBGLJOfH+odW/96UDmi62fLpA/SbOJFxfRLKfvORQMPFeXythdmf1BVKOIog3CglJ+gSh0ZIt3YMwsajeg0kd3sSUw+J622+hOGV3an"
        "iJ0aSTxiiCWztfOmBheXIMyiYfpK5XTbBM8ZVSi/3Zq0H8D22aAPejR0dUIbvN9vfoMWjsB5XdHt9UpmWpCj2syhNEX1zWQl5SkNGca8bQZFjSzmuklrKZPGhJeRGmtq"
        "kwswCBuf+vjisDWlLUo/sILFMmZPDil5pTLLdAZe1x5B2mQsvuGGUnByrj9qm3IajzT96SNzqYGnNvnRa89bly7a92nwFYWStiwWcx4PyobBpEuwKRf0zBBmo/4sZ+mu"
        "AiE+s8apKQAmYn5g6TG0G6pjeiSZMr5m15K86psj9mKdJi8PCjzqqIi1eWz5WiPzKG6qemLEb4XG8Wo4E2q4eOhQgey3eExaOrYDTdpnn4870OSurmL8K0hiYTwjoPyr"
        "95flfnKSYH0OBas722kQZPf3UsFletBTh4BzhvNauUjCtyRsYtaEyKpf+lCuYdEvUAMVpLEtX2uq903lpXPPVssPOuwQZBiXEDGMQAnSvFdzEN0PoR4ZU4SvSHeHiYsZ"
        "q0TtqivcBzQqQvH7HAdpGwCsQPDxSFfp/HZmwVOG0JzUzAcDCYmw8KcW5I3tKL3WeixJxTSYhI2+LpS8Cxd9Ry5gPMmOUrKux2nZXlJkpQ1s4RmyTGsOWTac78Ndb6yh"
        "pUqxEqp4GHorKy3JwxKEMn1TqTGmznBPMGp8GZuogTOzrX6iMiPllPiW1+0iBxHNv/sNjy7YG02+MWt2sHdWDBOS06afCt1HCIUiym21ZyN9LeNIIsciLO2WPE+kgBFL"
        "NcqLq2nmV19Whyf5aY4a2qoqlnq/Fg6+xa63EsgG88BATtUY4e3eDU1/kGrbP8dS24L2kCqF+gcdd7im4ep3qahvo+gBi8q4182wbzgT9SceqK5Du9s0/cGYxrsY+5Yv"
        "T34KhnvPgYeO5x+R3FNiJmRjB8G6B1jtItgOxdo/Cu6Nmxc5HAbdv5zDy6kWAJx7SkxQAuZ27gTeVcYId9Z77au7vtx6iJ0MY2cTza8WPgr9k7ANHj9j28o/JvhzfWNw"
        "vDvu8xgYqazHfwAuWTG9HAHmezjSGM5DZy+IqaMeXDzDwFcgi+cNz6RikS6LuGjG+hpmr497SO+kJFC+ve3nqCoIMRSfzu+5agrsXXr7DNH2m/AGNVbSQg06bUlO/lOP"
        "8A1yLLtvWbbAG91Kt02sFYNNwbAJB3XArSyK37ANTAvtqc153qB7YyLTA43BZmtPKqQMfizBMADZab9RBg1OKbBnz7Uzv6vNIihx3CUMCRCEBGSJcDwbCzhXMxyZsa7I"
        "awTDQCqjIVh+ZcnmYrDg3f7l3TDHE0dkTFE7m9xvbynMkMTzFg+xT61ElcNK8B7F3aRAE8yMLEZ4qbGS6aiWOBvhJB2xLGfCzPtmWUM99jXDHBMSNV8MqUD2iLHHlPqi"
        "AmgTOfb7+jHzeMBR0HA6Uc5D/IA3Wmz1D94z+g9/IOG+dofCQGFnumbIXCZ1nqSkbsA81XIkgmD+EHL7Xer7PJi7TTK9oOJsgP2nKea89EqW6JdjWTTLNKUY0yu0LgYp"
        "DrLbYM96VJK0vfZofMFfrEQCFWYRUjmTMISxjaANlk9gLjvMsJO2AfNwn5OHsXNCOgFZTJoVtV8rrNP43g+655TqRLFjNZvYa4pK2bZQUDPOXTIhfkQ1f5p04jOZ54wq"
        "ZMrtHYcaPOm0UNxnv3h12smLPdBZV9OSjODbphDPs8Xw09oCKKiojnP4g/wiAXc8+8qUfQPyYcOvcJ8DQCsfRRoA5kmQ3xMbbKnRdTsMkNvlNcpRCvR4kBELmyapkqa+"
        "fSiUVBFAcrtLbzWDS6tONvydHm9E75rTB60XQE4h7S4qCvTML+4kNRSN2Lc3DTlyNTRdlggxyA3bTq+uLUKWzkRsuCbUQwQ6ZLrbOWnfPzVydqjMSQolhvivDV/kiRWO"
        "ALsMjKErWYIbAPczhjNATurWnSb1w/DHhlqhGDWqYWDjVrxqdQjijW9nxZmgDjy5zjQ7XIghMQ4y6r5c743XSqffY5WA1ULjbnX2MqP8o2OiSN8UjYiUjtg4EPAasqv/"
        "ZVAdM/k2KUN0vNPZbQqFTzLEe92vwbZrtA3tEA1S+gGyHZ8njCfuBQFVZ8FXan2iykRXxKjFTgPaxfxHRJu7guqu5DbE+ALIhuiNCRzt/bKbxlh8Mkc05Ar3bc8iTpjR"
        "j+NOOVbbiGLkhjV2r3bp1jbt0R+aMbbEkafb/cUfrBNqdzCOdF+bcyNeSLGQrMj7iirdJVYJDoP+qQtbz/dS72JF4KX6nRUNDdsD/LOYk7/E7SHTd3Hwi1qeQypFX2He"
        "hzrDIccsUN4xFjfN1c+ceriOhSWCLfnxpt0wsk5DBGRLf8/dCzU6dEDeCP7gaN7sgIGWt3YjNrgnEL2lbSOgctaFbgoxcti89FWPskvvg83sZJZWxMl+KJLhFmwJGb3A"
        "0V0LQjhJGy/WLumO2xRRXh0ABR/wpynTBGpPida3bTrXyokUMkzi4wz5AbY1LokG+njbd0r2ZeCT+G1LfkG7S00rj3EF66WTkc3+gXBqv2/bsink6vA0DS6CGxZW3LlO"
        "3jsU53nofsiGnlWHoNB1usq+o9qDlza8AhQBZV+M/hXmP8GWuKFci8c4k7nSmO94zk3ttEgGDn0IonndpmglLJ2rn6ZJAeB0nb4mMRnoHYVGLwe6BUV6njovj4b4RHkf"
        "dcPOno3CQyuzdmO2tia7pCeegzXakevn3C3pZAUrNLzcCnGeMHpltjYrGRFihNm7jpplkYQEReXuFt0bqBxBLQzktaVtiJHqYCYxOJhou1cwHvrJa/DRfrKhCu7K7rQ5"
        "6G7JIDCRSPafr655RvY4MJyoG7TsC1GCgGVYVC+dXfsrA8Zc/kP+5E/0rthiD8xb7rpv+Jc3tsptlq0XG6Eq8lDuGorYfnhTKERX13ujAAWDct/WYTBJnu3jXBTvfK0M"
        "jsZ3vMnMft18AtMrNOzvVMs5TXZzM/gl4Xvzjo6LY6wCCMW73wLFlU1m7O7u8XSPwQoWXuWaOWmdLIzwdzwkV0hv0ohbL/w0mwTmdJotp7E4TxVAZjqlSnOWMauXx/Cv"
        "V7H2axD9QHLyAW91PLXYk6N9pbym7k2KkR1dRWZ8PzL6fvJiFaAK32S/zQ0z/tFnWaHx9p70UOVY0PmB0Hc4O/1E7s3/RuB+jaC5/142/+dldNq8wFKf2JorSMAImLK/"
        "poz2sFhw1tTS3ZVSiT25iw9hSYjdxG6Fb3B8Fz/duWmVMjHf3z3mr/xeleufdzT4bqZoudBdEiKQS34yRYG4Gdp0eqzkX481HUiPh7FJiK5f5KL8nVRl7ZVtZ/35tSq6"
        "Z3paymV0jn542RUO3sqU4BbNL6GUcgsk8Cj8JWdn6KJdVExyhfWgdxX6TGPYUs9ZEaSysD6jlMsKgE4iIJoHn6tFeiwcyvnGD3SP7DzMFVY9eqaJwWT8Ew4rgbeRZa0B"
        "6D8SDuIm3+jM3ErBH8j+D9KbMohzdun79VGvIsCOrjPbIgz9odj/KIOlGhlU0L/FkU74N1UqSl0wr/uHQg1sM1MjmhkP/5eQB6U6WmSrUxc=",
    ),
}


def _rows():
    """Degree, polynomial and first numbers of each dimension but the first, in order."""
    for degree, (count, text) in _TABLE.items():
        packed = base64.b64decode(text)
        rest, width = int.from_bytes(packed, "big"), (degree - 1) * (degree + 2) // 2
        for i in reversed(range(count)):
            row = rest >> (i * width)
            first, place = [1], width - (degree - 1)
            polynomial = row >> place & ((1 << (degree - 1)) - 1)
            for bits in range(1, degree):
                place -= bits
                first.append((row >> place & ((1 << bits) - 1)) << 1 | 1)
            yield degree, polynomial, first


def direction_numbers(dimensions):
    """For each dimension its numbers m_1 to m_30, each times the power of 2 that makes it one of 30 bits."""
    made = [[1 << (BITS - 1 - i) for i in range(BITS)]]
    for _, (degree, polynomial, numbers) in zip(range(dimensions - 1), _rows()):
        for i in range(degree, BITS):
            number = numbers[i - degree] ^ numbers[i - degree] << degree
            for k in range(1, degree):
                if polynomial >> (degree - 1 - k) & 1:
                    number ^= numbers[i - k] << k
            numbers.append(number)
        made.append([number << (BITS - 1 - i) for i, number in enumerate(numbers)])
    return made
