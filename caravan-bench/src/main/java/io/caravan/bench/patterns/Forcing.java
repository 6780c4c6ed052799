package io.caravan.bench.patterns;

/** What is forced to the disk. */
enum Forcing {
    NEVER("not forced"),
    EACH("forced each write"),
    BATCH("forced every 64 KiB");

    static final int BATCH_BYTES = 64 * 1024;

    private final String durability;

    Forcing(String durability) {
        this.durability = durability;
    }

    /** As it stands in the table. */
    String durability() {
        return durability;
    }

    /** Whether it is time, when so many bytes have been written since the last force. */
    boolean due(long unforcedBytes) {
        return this == EACH || this == BATCH && unforcedBytes >= BATCH_BYTES;
    }
}
