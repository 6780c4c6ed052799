package io.caravan.server.cli.migration;

import com.github.luben.zstd.ZstdInputStream;
import com.github.luben.zstd.ZstdOutputStream;
import io.caravan.server.cli.client.ClientException;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Objects;
import java.util.UUID;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/**
 * The file of an export, which gets its final name when it is complete and durable. Until then, its name ends in {@code
 * .partial}, and is different for each export. Not thread-safe.
 */
final class ExportFile implements AutoCloseable {
    private static final int BUFFER_BYTES = 64 * 1024;
    private static final int MAGIC_BYTES = 4;
    private static final String GZIP_MAGIC = "1f8b";
    private static final String ZSTD_MAGIC = "28b52ffd";

    private final Path file;
    private final Path partial;
    private final FileChannel channel;
    private final OutputStream out;

    /** Creates a file; throws {@link ClientException} if a file with the final name exists. */
    ExportFile(Path file) throws IOException {
        this.file = file;
        this.partial = file.resolveSibling(file.getFileName() + "." + UUID.randomUUID() + ".partial");
        if (Files.exists(file)) {
            throw exists();
        }
        // The file is also deleted if the user interrupts the command.
        partial.toFile().deleteOnExit();
        channel = FileChannel.open(partial, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        out = compressed(Channels.newOutputStream(channel));
    }

    private ClientException exists() {
        return ClientException.failed("the file '" + file + "' exists, and is not overwritten");
    }

    /** Returns the output, which should be buffered and flushed, but not closed. */
    OutputStream out() {
        return out;
    }

    private OutputStream compressed(OutputStream to) throws IOException {
        String name = file.toString().toLowerCase(Locale.ROOT);
        if (name.endsWith(".gz")) {
            return new GZIPOutputStream(to, BUFFER_BYTES);
        }
        return name.endsWith(".zst") ? new ZstdOutputStream(to).setChecksum(true) : to;
    }

    /** Returns the decompressed content of a stream, whose first bytes determine its compression. */
    static InputStream decompressed(InputStream in) throws IOException {
        BufferedInputStream buffered = new BufferedInputStream(in, BUFFER_BYTES);
        buffered.mark(MAGIC_BYTES);
        String magic = HexFormat.of().formatHex(buffered.readNBytes(MAGIC_BYTES));
        buffered.reset();
        if (magic.startsWith(GZIP_MAGIC)) {
            return new GZIPInputStream(buffered, BUFFER_BYTES);
        }
        return magic.equals(ZSTD_MAGIC) ? new ZstdInputStream(buffered) : buffered;
    }

    /** Makes the file durable, and renames it to its final name. */
    void finish() throws IOException {
        out.close();
        try (FileChannel written = FileChannel.open(partial, StandardOpenOption.WRITE)) {
            written.force(true);
        }
        try {
            Files.move(partial, file);
        } catch (FileAlreadyExistsException another) {
            throw exists();
        }
        Path directory = Objects.requireNonNull(file.toAbsolutePath().getParent());
        try (FileChannel names = FileChannel.open(directory, StandardOpenOption.READ)) {
            names.force(true);
        }
    }

    /** Closes the file, and deletes it if it is unfinished. */
    @Override
    public void close() throws IOException {
        channel.close();
        Files.deleteIfExists(partial);
    }
}
