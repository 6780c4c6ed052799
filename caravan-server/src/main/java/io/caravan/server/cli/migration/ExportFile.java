package io.caravan.server.cli.migration;

import com.github.luben.zstd.ZstdIOException;
import com.github.luben.zstd.ZstdInputStream;
import com.github.luben.zstd.ZstdOutputStream;
import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.common.Progress;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * An export in a file, which gets its final name when it is complete and durable; until then, its name ends in {@code
 * .partial}. To resume an interrupted export, a new export renames that file to {@code .resumed}, copies the intact
 * documents, and continues after them. The file is locked, so that no other export writes to it. Not thread-safe.
 */
final class ExportFile implements AutoCloseable {
    private final Path file;
    private final Path partial;
    private final Path resumed;
    private final Compression compression;
    private final Set<DocumentName> names = new HashSet<>();
    private @Nullable FileChannel channel;
    /** Identifies the file that this object has created; the user may have replaced it. */
    private @Nullable Object key;

    private @Nullable OutputStream out;
    private @Nullable ExportWriter writer;

    /** Prepares a file; throws {@link ClientException} if it exists. */
    ExportFile(Path file) {
        this.file = file;
        this.partial = sibling(".partial");
        this.resumed = sibling(".resumed");
        this.compression = Compression.of(file.toString());
        requireMissing(file, "exists, and is not overwritten");
    }

    private Path sibling(String ending) {
        return file.resolveSibling(file.getFileName() + ending);
    }

    private static void requireMissing(Path there, String what) {
        if (Files.exists(there)) {
            throw ClientException.failed("the file '" + there + "' " + what);
        }
    }

    ExportWriter begin() throws IOException {
        String interrupted = "is an export that was interrupted: resume it with --resume, or remove it";
        requireMissing(partial, interrupted);
        requireMissing(resumed, interrupted);
        return create(StandardOpenOption.CREATE_NEW);
    }

    private ExportWriter create(StandardOpenOption how) throws IOException {
        FileChannel locked = FileChannel.open(partial, how, StandardOpenOption.WRITE);
        channel = locked;
        requireLock(locked);
        key = keyOfPartial();
        locked.truncate(0);
        // The channel stays open when the stream is closed, so that the lock is kept.
        OutputStream created = compression.compress(new BufferedOutputStream(Channels.newOutputStream(locked)) {
            @Override
            public void close() throws IOException {
                flush();
            }
        });
        out = created;
        writer = new ExportWriter(created);
        return writer;
    }

    private Object keyOfPartial() throws IOException {
        return Files.readAttributes(partial, BasicFileAttributes.class).fileKey();
    }

    /** Locks the file until the channel is closed; throws {@link ClientException} if another export has locked it. */
    private void requireLock(FileChannel of) throws IOException {
        boolean locked;
        try {
            locked = of.tryLock() != null;
        } catch (OverlappingFileLockException byThisProcess) {
            locked = false;
        }
        if (!locked) {
            throw ClientException.failed("another export is writing to '" + partial + "'");
        }
    }

    /** Resumes an interrupted export, if there is one, after the last of its intact documents. */
    ExportWriter resume() throws IOException {
        // Another export may just be about to lock a file that is still empty.
        if (!Files.exists(resumed) && Files.exists(partial) && Files.size(partial) > 0) {
            try (FileChannel ended = FileChannel.open(partial, StandardOpenOption.WRITE)) {
                requireLock(ended);
                requireMissing(resumed, "was created by another export");
                Files.move(partial, resumed, StandardCopyOption.ATOMIC_MOVE);
            }
        }
        ExportWriter created = create(StandardOpenOption.CREATE);
        if (Files.exists(resumed)) {
            copy(created);
            created.flush();
            Objects.requireNonNull(channel).force(true);
            forceName();
            Files.delete(resumed);
        }
        return created;
    }

    private void copy(ExportWriter copied) throws IOException {
        copied.recordNames(names);
        try (TrackedInput in = new TrackedInput(Files.newInputStream(resumed))) {
            try {
                new ExportReader(in, Progress.silent()).readAll(copied);
            } catch (IOException problem) {
                // The export was interrupted; the documents before that point have been copied.
                if (!in.atEnd || !(problem instanceof EOFException || problem instanceof ZstdIOException)) {
                    throw ClientException.failed("cannot resume the export in '" + resumed + "', which stays as it is: "
                            + problem.getMessage());
                }
            }
        }
        copied.recordNames(null);
    }

    /** An input stream, read in blocks, that records whether the file was read to its end. */
    private static final class TrackedInput extends FilterInputStream {
        private boolean atEnd;

        TrackedInput(InputStream in) {
            super(in);
        }

        @Override
        public int read(byte[] bytes, int from, int length) throws IOException {
            int read = in.read(bytes, from, length);
            atEnd |= read < 0;
            return read;
        }
    }

    /** Returns the names of the documents that were copied from the interrupted export. */
    Set<DocumentName> names() {
        return names;
    }

    /** Makes the file durable, and renames it to its final name. */
    void finish() throws IOException {
        Objects.requireNonNull(writer).finish();
        closeStream();
        Objects.requireNonNull(channel).force(true);
        writer = null;
        if (!keyOfPartial().equals(key)) {
            throw ClientException.failed("another program has replaced the file '" + partial + "'");
        }
        requireMissing(
                file, "was created by another program, and is not overwritten; the export is in '" + partial + "'");
        Files.move(partial, file, StandardCopyOption.ATOMIC_MOVE);
        forceName();
    }

    private void forceName() throws IOException {
        Path directory = Objects.requireNonNull(file.toAbsolutePath().getParent());
        try (FileChannel names = FileChannel.open(directory, StandardOpenOption.READ)) {
            names.force(true);
        }
    }

    private void closeStream() throws IOException {
        if (out != null) {
            OutputStream open = out;
            out = null;
            open.close();
        }
    }

    /** Closes the file. Deletes it if it is unfinished and has no documents, so that there is nothing to resume. */
    @Override
    public void close() throws IOException {
        try (FileChannel locked = channel) {
            boolean nothing = writer != null && writer.totals().documents() == 0;
            if (nothing && Files.exists(partial) && keyOfPartial().equals(key)) {
                Files.delete(partial);
            }
            closeStream();
        }
    }

    enum Compression {
        NONE("", new byte[0]),
        GZIP(".gz", new byte[] {0x1F, (byte) 0x8B}),
        ZSTD(".zst", new byte[] {0x28, (byte) 0xB5, 0x2F, (byte) 0xFD});

        private static final int BUFFER_BYTES = 64 * 1024;
        private static final int MAGIC_BYTES = 4;

        private final String ending;
        private final byte[] magic;

        Compression(String ending, byte[] magic) {
            this.ending = ending;
            this.magic = magic;
        }

        /** Returns the compression that the extension of a file name indicates. */
        static Compression of(String fileName) {
            String name = fileName.toLowerCase(Locale.ROOT);
            return name.endsWith(GZIP.ending) ? GZIP : name.endsWith(ZSTD.ending) ? ZSTD : NONE;
        }

        OutputStream compress(OutputStream out) throws IOException {
            return switch (this) {
                case NONE -> out;
                case GZIP -> new GZIPOutputStream(out, BUFFER_BYTES, true);
                case ZSTD -> new ZstdOutputStream(out).setChecksum(true);
            };
        }

        /** Returns the decompressed content of a stream, whose first bytes determine its compression. */
        static InputStream decompressed(InputStream in) throws IOException {
            BufferedInputStream buffered = new BufferedInputStream(in, BUFFER_BYTES);
            buffered.mark(MAGIC_BYTES);
            byte[] begin = buffered.readNBytes(MAGIC_BYTES);
            buffered.reset();
            if (GZIP.begins(begin)) {
                return new GZIPInputStream(buffered, BUFFER_BYTES);
            }
            return ZSTD.begins(begin) ? new ZstdInputStream(buffered) : buffered;
        }

        private boolean begins(byte[] begin) {
            return begin.length >= magic.length && Arrays.equals(begin, 0, magic.length, magic, 0, magic.length);
        }
    }
}
