package io.caravan.server.archive;

import org.jspecify.annotations.Nullable;

/**
 * What a store remembers of its claims of an archive. A store that another copy of it has succeeded as the archive's owner
 * knows by this that it must not take the archive back. Owners are those of roots; null stands for an archive that is not
 * there.
 */
public interface ClaimMemory {
    /** Whether the store may claim the archive from this owner: none has come in between since it last did. */
    boolean expects(@Nullable String owner);

    /**
     * The store is about to claim the archive; whether it then does is not known. Durable on return.
     *
     * @param before whose the archive is now
     * @param owner whose it will be
     */
    void claiming(@Nullable String before, String owner);
}
