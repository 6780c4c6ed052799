package io.caravan;

/**
 * What has happened to a write before it is acknowledged; the strongest first. A store has a level, and a
 * {@link WriteBatch} may ask for a weaker one.
 */
public enum Durability {

    /** Forced to the disk: survives the process, the operating system and a power loss. */
    SYNC,

    /** Handed to the operating system: survives the process, not the operating system or the power. */
    PROCESS,

    /**
     * In memory only: survives nothing. It is written soon after, and a clean close keeps all of it. For tests and
     * caches.
     */
    NONE;

    /** The stronger of the two levels. */
    public Durability orStronger(Durability other) {
        return compareTo(other) <= 0 ? this : other;
    }

    /** The weaker of the two levels. */
    public Durability orWeaker(Durability other) {
        return compareTo(other) >= 0 ? this : other;
    }
}
