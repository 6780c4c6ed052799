package io.caravan;

/** What has happened to a write before it is acknowledged. */
public enum Durability {

    /** Forced to the disk: survives the process, the operating system and a power loss. */
    SYNC,

    /** Handed to the operating system: survives the process, not the operating system or the power. */
    PROCESS,

    /**
     * In memory only: survives nothing. It is written soon after, and a clean close keeps all of it. For tests and
     * caches.
     */
    NONE
}
