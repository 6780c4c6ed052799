package io.caravan.bench.peers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The stores that Caravan is measured beside. */
public enum Peer {
    CHRONICLE("Chronicle Queue", ChronicleStore::new),
    ROCKSDB("RocksDB, batches", RocksStore::batches),
    ROCKSDB_PUTS("RocksDB, single puts", RocksStore::puts),
    LMDB("LMDB", LmdbStore::new),
    SQLITE("SQLite", SqliteStore::new),
    H2("H2 MVStore", MvStore::new),
    XODUS("Xodus", XodusStore::new);

    private final String title;
    private final Opener opener;

    Peer(String title, Opener opener) {
        this.title = title;
        this.opener = opener;
    }

    private interface Opener {
        PeerStore open(Path directory, boolean synced) throws IOException;
    }

    /** Its name, for people. */
    public String title() {
        return title;
    }

    /** Whether it finds a list by its id; one that does not has to go through everything that was ever appended. */
    public boolean findsLists() {
        return this != CHRONICLE;
    }

    /**
     * Opens the store in this directory, which is created when it is missing.
     *
     * @param synced whether a commit returns only when what it holds is forced to the disk
     */
    public PeerStore open(Path directory, boolean synced) throws IOException {
        return opener.open(Files.createDirectories(directory), synced);
    }
}
