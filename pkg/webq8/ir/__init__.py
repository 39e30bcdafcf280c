"""What the parts of webq8 hand to each other: frozen data, no behaviour but what ops say of themselves.

bytes --formats--> Program of Graphs --passes--> Graph --plan--> Plan --backends--> results
"""
