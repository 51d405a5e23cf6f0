# spawner: the directories below it are looked at by regress/static/wings.py
spawner_SRCS :=	$(wildcard spawner/*.c spawner/*/*.c)
