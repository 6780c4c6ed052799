package io.caravan.bench.patterns;

/** When writes are forced to the disk. */
enum Forcing {
    NEVER("not forced"),
    EACH("forced each write"),
    BATCH("forced every 64 KiB");

    static final int BATCH_BYTES = 64 * 1024;

    private final String durability;

    Forcing(String durability) {
        this.durability = durability;
    }

    /** The text in the table. */
    String durability() {
        return durability;
    }

    /** Whether to force after this many bytes since the last force. */
    boolean due(long unforcedBytes) {
        return this == EACH || this == BATCH && unforcedBytes >= BATCH_BYTES;
    }
}
