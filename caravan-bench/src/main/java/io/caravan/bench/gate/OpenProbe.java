package io.caravan.bench.gate;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.bench.WorkDirectories;
import io.caravan.bench.engine.Stores;
import io.caravan.bench.engine.Workload;
import io.caravan.bench.report.HandFile;
import io.caravan.format.Checksums;
import io.caravan.testing.DirectoryImage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;

/**
 * Measures the opening of a store of small values, divided by the time of the same work by hand. By hand, the probe
 * reads the same files, computes their checksum, and adds the same number of entries to an index. Each round writes and
 * fsyncs the files again first.
 */
final class OpenProbe implements Probe {
    private static final int VALUE_BYTES = 24;

    private final Case which;
    private final int count;
    private final Path directory;
    private final Workload workload = Workload.ofSize(1, VALUE_BYTES);
    private final DirectoryImage image;

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

    OpenProbe(Case which, Path directory, boolean quick) {
        this.which = which;
        this.directory = directory;
        count = quick ? 100_000 : 400_000;
        DirectoryImage killed;
        try (ListStore store = open()) {
            for (int i = 0; i < count; i++) {
                store.append(workload.id(i), workload.value(i), Stores.NO_CALLBACK);
            }
            store.flush();
            killed = DirectoryImage.of(directory);
        }
        image = which == Case.AFTER_CLOSE ? DirectoryImage.of(directory) : killed;
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
        double byHand = byHand();
        long start = System.nanoTime();
        try (ListStore store = open()) {
            if (which == Case.UNTIL_CHECKPOINT) {
                store.checkpoint();
            }
            return (System.nanoTime() - start) / byHand;
        }
    }

    private long byHand() throws IOException {
        long start = System.nanoTime();
        int sum = 0;
        for (String file : image.files().keySet()) {
            sum += Checksums.crc32c(Files.readAllBytes(directory.resolve(file)));
        }
        LayerProbe.IndexLayer index = new LayerProbe.IndexLayer(workload);
        for (int i = 0; i < count; i++) {
            index.append(i);
        }
        if (which == Case.UNTIL_CHECKPOINT) {
            writeValues(sum);
        }
        return System.nanoTime() - start;
    }

    private void writeValues(int sum) throws IOException {
        ByteBuffer values =
                ByteBuffer.allocate(Integer.BYTES + count * VALUE_BYTES).putInt(sum);
        for (int i = 0; i < count; i++) {
            values.put(workload.value(i));
        }
        Path path = directory.resolveSibling(directory.getFileName() + ".by-hand");
        try (HandFile file = new HandFile(path)) {
            file.write(values.flip(), 0);
            file.fsync();
        }
        Files.delete(path);
    }
}
