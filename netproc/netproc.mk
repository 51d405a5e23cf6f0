# netproc: the directories below it are looked at by regress/static/wings.py
netproc_SRCS :=	$(wildcard netproc/*.c netproc/*/*.c)
