package io.caravan.bench.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that all peers fulfill the same contract, so that their measurements are comparable. */
class PeerContractTest {
    private static final int LISTS = 5;
    private static final int ENTRIES = 300;

    @TempDir
    private Path directory;

    @ParameterizedTest
    @EnumSource(Peer.class)
    void readsBackInOrder(Peer peer) throws IOException {
        try (PeerStore store = peer.open(directory, true)) {
            append(store, 0, ENTRIES);
            check(store, ENTRIES);
        }
    }

    @ParameterizedTest
    @EnumSource(Peer.class)
    void continuesAfterReopen(Peer peer) throws IOException {
        for (boolean synced : new boolean[] {true, false}) {
            Path place = directory.resolve(synced ? "synced" : "unsynced");
            try (PeerStore store = peer.open(place, synced)) {
                append(store, 0, ENTRIES / 2);
            }
            try (PeerStore store = peer.open(place, synced)) {
                append(store, ENTRIES / 2, ENTRIES);
                check(store, ENTRIES);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Peer.class)
    void groupCommitStoresAllAppends(Peer peer) throws Exception {
        try (PeerStore store = peer.open(directory, true)) {
            try (GroupCommit group = new GroupCommit(store)) {
                List<CompletableFuture<Void>> appends = new ArrayList<>();
                for (int entry = 0; entry < ENTRIES; entry++) {
                    for (int id = 0; id < LISTS; id++) {
                        appends.add(group.append(id, value(id, entry)));
                    }
                }
                CompletableFuture.allOf(appends.toArray(CompletableFuture[]::new))
                        .get();
            }
            check(store, ENTRIES);
        }
    }

    @ParameterizedTest
    @EnumSource(Peer.class)
    void reportsVersion(Peer peer) {
        assertThat(peer.version()).matches("[a-z0-9-]+-[0-9][0-9.]+");
    }

    @Test
    void groupCommitReportsFailure() throws Exception {
        try (GroupCommit group = new GroupCommit(new BrokenStore())) {
            assertThatThrownBy(group.append(1, value(1, 1))::get)
                    .isInstanceOf(ExecutionException.class)
                    .hasRootCauseMessage("broken");
        }
    }

    private static void append(PeerStore store, int from, int to) throws IOException {
        for (int entry = from; entry < to; entry++) {
            for (int id = 0; id < LISTS; id++) {
                store.append(id, value(id, entry));
            }
            if (entry % 100 == 99) {
                store.commit();
            }
        }
        store.commit();
    }

    private static void check(PeerStore store, int entries) throws IOException {
        List<String> all = new ArrayList<>();
        try (PeerReader reader = store.reader()) {
            for (int id = 0; id < LISTS; id++) {
                assertThat(read(reader, id)).isEqualTo(expected(id, entries));
            }
            reader.read(LISTS, value -> all.add(text(value)));
            assertThat(all).isEmpty();
            reader.readAll(LISTS - 1, value -> all.add(text(value)));
        }
        assertThat(all).hasSize((LISTS - 1) * entries).containsAll(expected(LISTS - 2, entries));
    }

    private static List<String> read(PeerReader reader, int id) throws IOException {
        List<String> found = new ArrayList<>();
        reader.read(id, value -> found.add(text(value)));
        return found;
    }

    private static List<String> expected(int id, int entries) {
        List<String> expected = new ArrayList<>();
        for (int entry = 0; entry < entries; entry++) {
            expected.add(new String(value(id, entry), StandardCharsets.UTF_8));
        }
        return expected;
    }

    /** Returns the value of an entry. Some values are longer than a page. */
    private static byte[] value(int id, int entry) {
        return (id + ":" + entry + "x".repeat(entry % 50 == 0 ? 6_000 : entry)).getBytes(StandardCharsets.UTF_8);
    }

    private static String text(ByteBuffer value) {
        return StandardCharsets.UTF_8.decode(value).toString();
    }

    private static final class BrokenStore implements PeerStore {
        @Override
        public void append(long id, byte[] value) {}

        @Override
        public void commit() throws IOException {
            throw new IOException("broken");
        }

        @Override
        public PeerReader reader() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {}
    }
}
