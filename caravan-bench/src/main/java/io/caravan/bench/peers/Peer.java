package io.caravan.bench.peers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import jetbrains.exodus.env.Environments;
import net.openhft.chronicle.queue.ChronicleQueue;
import org.h2.mvstore.MVStore;
import org.lmdbjava.Env;
import org.rocksdb.RocksDB;
import org.sqlite.SQLiteConfig;

/** The stores that Caravan is measured beside. */
public enum Peer {
    CHRONICLE("Chronicle Queue", ChronicleStore::new, ChronicleQueue.class),
    ROCKSDB("RocksDB, batches", RocksStore::batches, RocksDB.class),
    ROCKSDB_PUTS("RocksDB, single puts", RocksStore::puts, RocksDB.class),
    LMDB("LMDB", LmdbStore::new, Env.class),
    SQLITE("SQLite", SqliteStore::new, SQLiteConfig.class),
    H2("H2 MVStore", MvStore::new, MVStore.class),
    XODUS("Xodus", XodusStore::new, Environments.class);

    private final String title;
    private final Opener opener;
    private final Class<?> library;

    Peer(String title, Opener opener, Class<?> library) {
        this.title = title;
        this.opener = opener;
        this.library = library;
    }

    private interface Opener {
        PeerStore open(Path directory, boolean synced) throws IOException;
    }

    /** Its name, for people. */
    public String title() {
        return title;
    }

    /** Its library's name and version, as the library's file is called. */
    public String version() {
        CodeSource source = library.getProtectionDomain().getCodeSource();
        String file = source == null ? library.getName() : source.getLocation().getPath();
        return file.substring(file.lastIndexOf('/') + 1).replaceFirst("\\.jar$", "");
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
