"""What checks a workspace, in a process of its own and perhaps in another environment: it imports nothing of ours.

``launch.py`` is what the process is started with. Requests come on standard input, answers go to what was standard
output at the start, one line of JSON each; what anything prints goes nowhere.
"""
