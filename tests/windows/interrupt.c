/* interrupt MILLISECONDS COMMAND: starts a command in a console of its own, presses Ctrl-C after so long, and gives its exit status. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

static BOOL WINAPI ignore(DWORD event) {
    (void)event;
    return TRUE;
}

int wmain(void) {
    wchar_t *line = wcsdup(GetCommandLineW());
    wchar_t *rest = line;
    /* The program's own name holds no blank. */
    rest = wcschr(rest, L' ');
    while (*rest == L' ') rest++;
    DWORD wait = (DWORD)wcstoul(rest, &rest, 10);
    while (*rest == L' ') rest++;
    STARTUPINFOW startup = {0};
    startup.cb = sizeof startup;
    startup.dwFlags = STARTF_USESTDHANDLES;
    startup.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
    startup.hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE);
    startup.hStdError = GetStdHandle(STD_ERROR_HANDLE);
    FreeConsole();
    if (!AllocConsole()) return 100;
    PROCESS_INFORMATION process;
    if (!CreateProcessW(NULL, rest, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &process)) return 101;
    /* After the start: a process inherits that it ignores Ctrl-C. */
    SetConsoleCtrlHandler(ignore, TRUE);
    Sleep(wait);
    if (!GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0)) return 102;
    if (WaitForSingleObject(process.hProcess, 60000) != WAIT_OBJECT_0) return 103;
    DWORD status = 104;
    GetExitCodeProcess(process.hProcess, &status);
    wprintf(L"%08lx\n", status);
    return 0;
}
