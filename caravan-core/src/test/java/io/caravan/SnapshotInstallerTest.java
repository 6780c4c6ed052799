package io.caravan;

import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;

import io.caravan.testing.Faults;
import io.caravan.testing.SmallStore;
import io.caravan.testing.StoreContents;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Checks that the store files of a replica can be sent in chunks and installed in another directory. */
final class SnapshotInstallerTest {
    private static final long STORE_ID = 4711;
    private static final int LISTS = 5;

    @TempDir
    Path directory;

    private StoreConfig config(String name) {
        return SmallStore.config(directory.resolve(name))
                .durability(Durability.PROCESS)
                .build();
    }

    @Test
    void copySentWhileLeadingCatchesUpByReplay() throws IOException {
        List<ByteBuffer> frames = new ArrayList<>();
        try (Replica leader = Replica.open(config("leader"), STORE_ID, 0)) {
            leader.lead(frame ->
                    frames.add(ByteBuffer.allocate(frame.remaining()).put(frame).flip()));
            for (int i = 0; i < 40; i++) {
                append(leader, i);
            }
            long end;
            try (SnapshotInstaller copy = SnapshotInstaller.begin(directory.resolve("copy"))) {
                end = leader.send(
                                piece -> {
                                    append(leader, 7);
                                    copy.receive(piece);
                                },
                                BackupReport.Progress.NONE)
                        .lsn();
                copy.finish();
            }
            assertThat(Faults.of(directory.resolve("copy"))).isEmpty();
            try (Replica copy = Replica.open(config("leader").withDirectory(directory.resolve("copy")), STORE_ID, 0)) {
                assertThat(copy.position()).isBetween(1L, end).isLessThanOrEqualTo(leader.position());
                frames.forEach(copy::replay);
                copy.fsync();
                assertThat(copy.position()).isEqualTo(leader.position());
                assertThat(StoreContents.of(copy.store())).isEqualTo(StoreContents.of(leader.store()));
            }
        }
    }

    private static void append(Replica leader, int i) {
        await(leader.store().append(i % LISTS, bytes(SmallStore.MAX_VALUE_BYTES, i)));
    }

    @Test
    void sendReportsReceiverFailure() {
        try (Replica leader = Replica.open(config("leader"), STORE_ID, 0)) {
            assertThatExceptionOfType(StoreIoException.class)
                    .isThrownBy(() -> leader.send(
                            piece -> {
                                throw new IOException("enough");
                            },
                            BackupReport.Progress.NONE))
                    .withMessageContaining("enough");
        }
    }

    @Test
    void rejectsNonEmptyDirectoryWithoutChangingIt() throws IOException {
        Path copyDirectory = Files.createDirectory(directory.resolve("copy"));
        Path letter = Files.writeString(copyDirectory.resolve("heap-0000000000000000.dat"), "of another store");
        assertThatExceptionOfType(StoreDirectoryException.class)
                .isThrownBy(() -> SnapshotInstaller.begin(copyDirectory))
                .withMessageContainingAll("not empty", "heap-0000000000000000.dat", "missing or empty");
        assertThat(letter).hasContent("of another store");
        Files.delete(letter);
        SnapshotInstaller.begin(copyDirectory).close();
    }

    @Test
    void rejectsMalformedOrOutOfOrderChunks() throws IOException {
        try (SnapshotInstaller copy = SnapshotInstaller.begin(directory.resolve("copy"))) {
            assertRejected(copy, ByteBuffer.allocate(3), "too short");
            assertRejected(copy, piece(2, 0, "content of no file"), "outside of a file");
            assertRejected(copy, piece(1, 0, "../elsewhere"), "cannot be received");
            assertRejected(copy, piece(1, 0, "letter.txt"), "cannot be received");
            assertRejected(copy, piece(1, (1 << 30) + 1, "log-0000000000000000.wal"), "size 1073741825");
            assertRejected(copy, piece(9, 0, ""), "kind 9");
            copy.receive(piece(1, 0, "log-0000000000000000.wal"));
            assertRejected(copy, piece(1, 0, "log-0000000000000001.wal"), "within a file");
            assertRejected(copy, piece(2, -1, "before the file"), "-1");
            assertThatIOException().isThrownBy(copy::finish).withMessageContaining("within a file");
            copy.receive(piece(3, 0, ""));
            assertRejected(copy, piece(1, 0, "log-0000000000000000.wal"), "was already");
            copy.finish();
        }
    }

    private static void assertRejected(SnapshotInstaller copy, ByteBuffer piece, String why) {
        assertThatIOException().isThrownBy(() -> copy.receive(piece)).withMessageContaining(why);
    }

    private static ByteBuffer piece(int kind, long number, String content) {
        byte[] bytes = content.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(9 + bytes.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put((byte) kind)
                .putLong(number)
                .put(bytes)
                .flip();
    }
}
