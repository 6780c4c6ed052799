package io.caravan.server.document.space;

import io.caravan.Durability;
import java.util.Locale;

/** The durability levels of an acknowledged write, from weakest to strongest. */
public enum DocumentDurability {
    /** The write is in the memory of the process, and may be lost if the process is killed. */
    MEMORY(Durability.MEMORY),
    /** The write is in the memory of the operating system, and may be lost in a power failure. */
    PROCESS(Durability.PROCESS),
    /** The write is on the disk of the server. */
    SYNC(Durability.SYNC),
    /** The write is on the disks of a majority of the cluster's members. */
    REPLICATED(Durability.SYNC);

    private final Durability durability;

    DocumentDurability(Durability durability) {
        this.durability = durability;
    }

    /** Returns the durability that a standalone server offers if its store has this level. */
    public static DocumentDurability of(Durability level) {
        return valueOf(level.name());
    }

    /** Returns the durability that the store must provide. */
    public Durability durability() {
        return durability;
    }

    /** Returns the name of this durability in both protocols and on the command line. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Whether a server with this durability can offer the other durability for some documents. */
    boolean allows(DocumentDurability other) {
        return this == REPLICATED ? other == REPLICATED : other.compareTo(this) <= 0;
    }
}
