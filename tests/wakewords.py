"""The streaming models of PyPI's pymicro-wakeword (Apache-2.0), taken from its wheel by hash and kept in the cache.

python tests/wakewords.py       # fetches them now and prints where they are
"""

from pathlib import Path

from webq8.desktop.assets import Bundle, Source, fetch

WAKEWORDS = Bundle(
    "wakewords-2.5.0",
    {
        "alexa.tflite": "9011a8155b04de858c48038529235cbc0e42e9fca05a55bf588cb80a653a723b",
        "hey_jarvis.tflite": "21a7976add39ee24ec96c63d96b7aaa18e24d1d9824b963e451da8feb4b78b77",
        "hey_mycroft.tflite": "c2a9b6ed51182db72e014781d5a4ece1929dc232a40b5b4be384f0295f0e1571",
        "okay_nabu.tflite": "d89128c4d16a72de429119fb2254ce46649553c2a24f5dd840175c80d7b9d094",
    },
    (Source("pypi", "pymicro-wakeword==2.5.0", "pymicro_wakeword/models/"),),
)


def wakewords() -> Path:
    return fetch(WAKEWORDS)


if __name__ == "__main__":
    print(wakewords())
