package io.caravan.bench.torture;

/** What a working process may have to get through before it ends. */
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
