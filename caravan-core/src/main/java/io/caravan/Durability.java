package io.caravan;

/**
 * A level of durability that a write reaches before it is acknowledged. The levels are ordered from the strongest to
 * the weakest. Every store has a level; a {@link WriteBatch} may request a weaker level.
 */
public enum Durability {

    /** Fsynced: survives a crash of the process or the operating system, and a power failure. */
    SYNC,

    /**
     * Written to the page cache: survives a crash of the process, but neither a crash of the operating system nor a
     * power failure.
     */
    PROCESS,

    /**
     * In memory only: does not survive a crash. The store writes the data to the log soon after the acknowledgment,
     * and a clean close loses nothing. Suitable for tests and caches.
     */
    MEMORY;

    /** Returns the stronger of this level and the other level. */
    public Durability orStronger(Durability other) {
        return compareTo(other) <= 0 ? this : other;
    }

    /** Returns the weaker of this level and the other level. */
    public Durability orWeaker(Durability other) {
        return compareTo(other) >= 0 ? this : other;
    }
}
