package io.caravan.bench.gate;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.bench.WorkDirectories;
import io.caravan.bench.engine.Stores;
import io.caravan.bench.engine.Workload;
import io.caravan.bench.report.HandFile;
import io.caravan.testing.DirectoryImage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.zip.CRC32C;

/**
 * Measures the opening of a store of small values, divided by the time of a fixed amount of work by hand. By hand, the
 * probe reads as many bytes as the log has for these entries, computes their checksum, and counts the entries of each
 * list in a map. Each round writes and fsyncs the store's files again first.
 */
final class OpenProbe implements Probe {
    private static final int VALUE_BYTES = 24;
    /** Number of bytes read by hand for each entry. */
    private static final int READ_BYTES = 64;

    private final Case which;
    private final int count;
    private final Path directory;
    private final Workload workload = Workload.ofSize(1, VALUE_BYTES);
    private final DirectoryImage image;
    private final Path byHand;

    /** The state of the store's directory, and the end of the measured time. */
    enum Case {
        AFTER_CLOSE,
        AFTER_KILL,
        /** After a kill, until the values have moved from the log to the heap; by hand, they are written and fsynced. */
        UNTIL_CHECKPOINT;

        /** Returns the name of the ratio. */
        String title() {
            return "open-" + name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    OpenProbe(Case which, Path directory, boolean quick) throws IOException {
        this.which = which;
        this.directory = directory;
        count = quick ? 100_000 : 400_000;
        byHand = directory.resolveSibling(directory.getFileName() + ".by-hand");
        DirectoryImage killed;
        try (ListStore store = open()) {
            for (int i = 0; i < count; i++) {
                store.append(workload.id(i), workload.value(i), Stores.NO_CALLBACK);
            }
            store.flush();
            killed = DirectoryImage.of(directory);
        }
        image = which == Case.AFTER_CLOSE ? DirectoryImage.of(directory) : killed;
        Files.write(byHand, new byte[count * READ_BYTES]);
    }

    private ListStore open() {
        return new Stores(true).open(directory, Durability.SYNC);
    }

    @Override
    public double round() throws IOException {
        WorkDirectories.delete(directory);
        image.writeTo(directory);
        for (String file : image.files().keySet()) {
            try (FileChannel channel = FileChannel.open(directory.resolve(file), StandardOpenOption.WRITE)) {
                channel.force(true);
            }
        }
        double work = workByHand();
        long start = System.nanoTime();
        try (ListStore store = open()) {
            if (which == Case.UNTIL_CHECKPOINT) {
                store.checkpoint();
            }
            return (System.nanoTime() - start) / work;
        }
    }

    private long workByHand() throws IOException {
        long start = System.nanoTime();
        CRC32C crc = new CRC32C();
        crc.update(Files.readAllBytes(byHand));
        Map<Long, Long> lists = new HashMap<>();
        for (int i = 0; i < count; i++) {
            lists.merge(workload.id(i), crc.getValue(), Long::sum);
        }
        if (which == Case.UNTIL_CHECKPOINT) {
            try (HandFile file = new HandFile(byHand)) {
                file.write(ByteBuffer.allocate(lists.size() + count * VALUE_BYTES), 0);
                file.fsync();
            }
        }
        return System.nanoTime() - start;
    }

    @Override
    public void close() throws IOException {
        Files.deleteIfExists(byHand);
    }
}
