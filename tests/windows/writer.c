/* writer FILE: writes its standard input to a file as it comes, and holds the file open until the input ends, as dumpcap does. */
#include <fcntl.h>
#include <io.h>
#include <stdio.h>

int main(int count, char **words) {
    static char bytes[1 << 16];
    FILE *to = count == 2 ? fopen(words[1], "wb") : NULL;
    int got;
    if (!to) return 1;
    _setmode(0, _O_BINARY);
    while ((got = _read(0, bytes, sizeof bytes)) > 0) {
        if (fwrite(bytes, 1, (size_t)got, to) != (size_t)got || fflush(to)) return 2;
    }
    return fclose(to);
}
