package io.caravan.server.document.space;

import io.caravan.Durability;
import java.util.Locale;

/** The durability of an acknowledged write, in ascending order of strength. */
public enum DocumentDurability {
    /** In memory: a killed process may lose the write. */
    MEMORY(Durability.MEMORY),
    /** In the operating system's memory: a power failure may lose the write. */
    PROCESS(Durability.PROCESS),
    /** On disk. */
    SYNC(Durability.SYNC),
    /** On the disks of a majority of the cluster. */
    REPLICATED(Durability.SYNC);

    private final Durability durability;

    DocumentDurability(Durability durability) {
        this.durability = durability;
    }

    /** Returns the durability that a standalone server offers with this level of its store. */
    public static DocumentDurability of(Durability level) {
        return switch (level) {
            case MEMORY -> MEMORY;
            case PROCESS -> PROCESS;
            case SYNC -> SYNC;
        };
    }

    /** Returns the durability that the store must reach. */
    public Durability durability() {
        return durability;
    }

    /** Returns the name of this durability in both protocols and on the command line. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Whether a server with this durability can offer the other one for some of its documents. */
    boolean allows(DocumentDurability other) {
        return this == REPLICATED ? other == REPLICATED : other.compareTo(this) <= 0;
    }
}
