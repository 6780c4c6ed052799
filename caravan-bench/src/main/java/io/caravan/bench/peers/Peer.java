package io.caravan.bench.peers;

import io.caravan.bench.WorkDirectories;
import java.io.IOException;
import java.nio.file.Path;
import java.security.CodeSource;
import net.openhft.chronicle.queue.ChronicleQueue;
import org.lmdbjava.Env;
import org.rocksdb.RocksDB;
import org.sqlite.SQLiteConfig;

/** The stores with which Caravan is compared. */
public enum Peer {
    CHRONICLE("Chronicle Queue", ChronicleStore::new, ChronicleQueue.class),
    ROCKSDB("RocksDB, batches", RocksStore::batches, RocksDB.class),
    ROCKSDB_PUTS("RocksDB, single puts", RocksStore::puts, RocksDB.class),
    LMDB("LMDB", LmdbStore::new, Env.class),
    SQLITE("SQLite", SqliteStore::new, SQLiteConfig.class);

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

    /** Returns the name of the store in reports. */
    public String title() {
        return title;
    }

    /** Returns the name and version of the library, taken from the name of its file. */
    public String version() {
        CodeSource source = library.getProtectionDomain().getCodeSource();
        String file = source == null ? library.getName() : source.getLocation().getPath();
        return file.substring(file.lastIndexOf('/') + 1).replaceFirst("\\.jar$", "");
    }

    /** Whether the store can find a list by its id. Otherwise a read has to scan everything ever appended. */
    public boolean findsLists() {
        return this != CHRONICLE;
    }

    /**
     * Opens the store in this directory, and creates the directory if it is missing.
     *
     * @param synced whether a commit returns only after its contents are fsynced
     */
    public PeerStore open(Path directory, boolean synced) throws IOException {
        return opener.open(WorkDirectories.create(directory), synced);
    }
}
