package io.caravan.server.archive.restore;

import io.caravan.catalog.DocumentName;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Names that the archive is known to have nothing of: the newest ones, as many as there is room for. When half of the room
 * is full of new names, the older half is forgotten. Any number of threads.
 */
final class AbsentNames {
    /** Room for some 150,000 short names. */
    private static final long HALF_BYTES = 8 * 1024 * 1024;
    /** What a name takes beside its bytes, about. */
    private static final int OVERHEAD_BYTES = 100;

    private final long halfBytes;
    private volatile Set<DocumentName> newer = ConcurrentHashMap.newKeySet();
    private volatile Set<DocumentName> older = Set.of();
    private long newerBytes;

    AbsentNames() {
        this(HALF_BYTES);
    }

    /** Names in twice as many bytes. */
    AbsentNames(long halfBytes) {
        this.halfBytes = halfBytes;
    }

    boolean contains(DocumentName name) {
        return newer.contains(name) || older.contains(name);
    }

    synchronized void add(DocumentName name) {
        newerBytes += name.toBytes().length + OVERHEAD_BYTES;
        if (newerBytes > halfBytes) {
            older = newer;
            newer = ConcurrentHashMap.newKeySet();
            newerBytes = name.toBytes().length + OVERHEAD_BYTES;
        }
        newer.add(name);
    }
}
