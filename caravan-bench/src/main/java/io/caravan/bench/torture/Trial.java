package io.caravan.bench.torture;

/** The trials of a working process before it ends. */
enum Trial {
    PAUSED("paused"),
    SECOND_PROCESS("second process refused"),
    DISK_FULL("disk full"),
    SPACE_BACK("space back");

    private final String words;

    Trial(String words) {
        this.words = words;
    }

    @Override
    public String toString() {
        return words;
    }
}
