package io.caravan.bench.peers;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteConfig.JournalMode;
import org.sqlite.SQLiteConfig.SynchronousMode;

/**
 * SQLite through JDBC in WAL mode, with one row for each entry. The integer key of an entry is the table's rowid.
 *
 * <p>A batch is one transaction of a prepared insert. When synced, {@code synchronous} is {@code FULL}, so that a
 * commit waits for the disk; otherwise it is {@code OFF}. The log is checkpointed after 10,000 pages instead of 1,000,
 * the cache holds 256 MiB, and reads use a memory map. Each reader has its own connection.
 */
final class SqliteStore implements PeerStore {
    private static final int CHECKPOINT_PAGES = 10_000;
    private static final int CACHE_KIB = 256 << 10;
    private static final long MAP_BYTES = 4L << 30;

    private final String url;
    private final SQLiteConfig config = new SQLiteConfig();
    private final Connection connection;
    private final PreparedStatement insert;
    private long number;

    SqliteStore(Path directory, boolean synced) throws IOException {
        url = "jdbc:sqlite:" + directory.resolve("entries.db");
        config.setJournalMode(JournalMode.WAL);
        config.setSynchronous(synced ? SynchronousMode.FULL : SynchronousMode.OFF);
        config.setPragma(SQLiteConfig.Pragma.WAL_AUTOCHECKPOINT, Integer.toString(CHECKPOINT_PAGES));
        config.setPragma(SQLiteConfig.Pragma.MMAP_SIZE, Long.toString(MAP_BYTES));
        config.setCacheSize(-CACHE_KIB);
        try {
            connection = config.createConnection(url);
            try (Statement statement = connection.createStatement()) {
                statement.executeUpdate(
                        "CREATE TABLE IF NOT EXISTS entry (key INTEGER PRIMARY KEY, value BLOB NOT NULL)");
                try (ResultSet count = statement.executeQuery("SELECT count(*) FROM entry")) {
                    number = count.next() ? count.getLong(1) : 0;
                }
            }
            connection.setAutoCommit(false);
            insert = connection.prepareStatement("INSERT INTO entry (key, value) VALUES (?, ?)");
        } catch (SQLException problem) {
            throw new IOException("cannot open SQLite in " + directory, problem);
        }
    }

    @Override
    public void append(long id, byte[] value) throws IOException {
        try {
            insert.setLong(1, EntryKeys.of(id, number++));
            insert.setBytes(2, value);
            insert.executeUpdate();
        } catch (SQLException problem) {
            throw new IOException("SQLite failed to insert a value of " + id, problem);
        }
    }

    @Override
    public void commit() throws IOException {
        try {
            connection.commit();
        } catch (SQLException problem) {
            throw new IOException("SQLite failed to commit", problem);
        }
    }

    @Override
    public PeerReader reader() throws IOException {
        try {
            return new Reader(config.createConnection(url));
        } catch (SQLException problem) {
            throw new IOException("cannot read SQLite through " + url, problem);
        }
    }

    @Override
    public void close() throws IOException {
        try (Connection closing = connection) {
            insert.close();
            closing.rollback();
        } catch (SQLException problem) {
            throw new IOException("cannot close SQLite", problem);
        }
    }

    private static final class Reader implements PeerReader {
        private final Connection connection;
        private final PreparedStatement select;

        Reader(Connection connection) throws SQLException {
            this.connection = connection;
            select = connection.prepareStatement("SELECT value FROM entry WHERE key >= ? AND key < ? ORDER BY key");
        }

        @Override
        public void read(long id, Sink sink) throws IOException {
            try {
                select.setLong(1, EntryKeys.first(id));
                select.setLong(2, EntryKeys.first(id + 1));
                try (ResultSet rows = select.executeQuery()) {
                    while (rows.next()) {
                        sink.value(ByteBuffer.wrap(rows.getBytes(1)));
                    }
                }
            } catch (SQLException problem) {
                throw new IOException("SQLite failed to read " + id, problem);
            }
        }

        @Override
        public void close() throws IOException {
            try (Connection closing = connection) {
                select.close();
            } catch (SQLException problem) {
                throw new IOException("cannot close a reader of SQLite", problem);
            }
        }
    }
}
