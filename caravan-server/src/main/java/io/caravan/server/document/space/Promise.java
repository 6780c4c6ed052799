package io.caravan.server.document.space;

import io.caravan.Durability;
import java.util.Locale;

/** What has happened to a change before it is answered; the weakest first. */
public enum Promise {
    /** It is in memory: a killed process may lose it. */
    MEMORY(Durability.NONE),
    /** The operating system has it: a power cut may lose it. */
    PROCESS(Durability.PROCESS),
    /** It is on the disk. */
    SYNC(Durability.SYNC),
    /** It is on the disks of a cluster's majority. */
    REPLICATED(Durability.SYNC);

    private final Durability durability;

    Promise(Durability durability) {
        this.durability = durability;
    }

    /** What a server that is alone promises at this level of its store. */
    public static Promise of(Durability level) {
        return switch (level) {
            case NONE -> MEMORY;
            case PROCESS -> PROCESS;
            case SYNC -> SYNC;
        };
    }

    /** What a store is asked for. */
    public Durability durability() {
        return durability;
    }

    /** Its name in both protocols and on the command line. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Whether a server that promises this can promise the other for some of its documents. */
    boolean allows(Promise other) {
        return this == REPLICATED ? other == REPLICATED : other.compareTo(this) <= 0;
    }
}
