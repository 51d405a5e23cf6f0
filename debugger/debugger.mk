# debugger: one process per debugged session
debugger_LIBS := -lseccomp -ljson-c
