/* Stands for tshark: says which folder it was given and whether its keys are there, then waits to be interrupted. */
#include <stdio.h>
#include <windows.h>

int main(void) {
    char folder[MAX_PATH], file[MAX_PATH + 16];
    GetEnvironmentVariableA("WIRESHARK_CONFIG_DIR", folder, sizeof folder);
    sprintf(file, "%s\\esp_sa", folder);
    printf("%s %s\n", GetFileAttributesA(file) == INVALID_FILE_ATTRIBUTES ? "without" : "with", folder);
    fflush(stdout);
    Sleep(8000);
    return 7;
}
