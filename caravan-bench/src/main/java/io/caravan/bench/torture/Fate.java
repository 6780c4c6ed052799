package io.caravan.bench.torture;

/** How a working process ends. */
enum Fate {
    KILLED_AT_WORK("killed at work"),
    KILLED_AT_START("killed at start"),
    CLOSED("closed");

    private final String words;

    Fate(String words) {
        this.words = words;
    }

    @Override
    public String toString() {
        return words;
    }
}
