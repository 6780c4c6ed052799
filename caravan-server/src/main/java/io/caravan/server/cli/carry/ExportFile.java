package io.caravan.server.cli.carry;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.client.Carrier.Description;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.common.Output;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An export in a file, which has its name once it is whole and durable: until then {@code .partial} is behind it. What an
 * export that was ended has left there, another copies and goes on with; while it copies, the older one ends with {@code
 * .resumed}. For one thread.
 */
final class ExportFile implements AutoCloseable {
    private final Path file;
    private final Path partial;
    private final Path resumed;
    private final Compression compression;
    private final Set<DocumentName> names = new HashSet<>();
    private @Nullable OutputStream out;

    /**
     * A file that does not exist yet.
     *
     * @throws ClientException when it does
     */
    ExportFile(Path file, Compression compression) {
        this.file = file;
        this.partial = beside(".partial");
        this.resumed = beside(".resumed");
        this.compression = compression;
        refuse(file, "exists, and is not overwritten");
    }

    private Path beside(String ending) {
        return file.resolveSibling(file.getFileName() + ending);
    }

    private static void refuse(Path there, String what) {
        if (Files.exists(there)) {
            throw ClientException.failed("the file '" + there + "' " + what);
        }
    }

    /** Begins a new export. */
    ExportWriter begin() throws IOException {
        String howOn = "is an export that was ended: go on with it by --resume, or remove it";
        refuse(partial, howOn);
        refuse(resumed, howOn);
        return create();
    }

    private ExportWriter create() throws IOException {
        OutputStream created = compression.compress(new BufferedOutputStream(Files.newOutputStream(partial)));
        out = created;
        return new ExportWriter(created);
    }

    /** Goes on with an export that was ended, if there is one: behind the last of its documents that is whole. */
    ExportWriter resume() throws IOException {
        if (!Files.exists(resumed) && Files.exists(partial)) {
            Files.move(partial, resumed, StandardCopyOption.ATOMIC_MOVE);
        }
        ExportWriter writer = create();
        if (Files.exists(resumed)) {
            copy(writer);
            Files.delete(resumed);
        }
        return writer;
    }

    private void copy(ExportWriter writer) throws IOException {
        try (InputStream in = Files.newInputStream(resumed)) {
            new ExportReader(Compression.decompressed(in)).readAll(new Remembering(writer));
        } catch (UncheckedIOException unwritable) {
            throw new IOException(
                    "the file '" + partial + "' cannot be written: " + unwritable.getMessage(), unwritable);
        } catch (IOException cutOff) {
            // It was ended somewhere; the documents before that have been copied.
        }
    }

    /** Names of the documents that are in the file since before. */
    Set<DocumentName> names() {
        return names;
    }

    /** Makes the file durable, and gives it its name. */
    void finish(ExportWriter writer) throws IOException {
        writer.finish();
        close();
        try (FileChannel written = FileChannel.open(partial, StandardOpenOption.WRITE)) {
            written.force(true);
        }
        Files.move(partial, file, StandardCopyOption.ATOMIC_MOVE);
    }

    @Override
    public void close() throws IOException {
        if (out != null) {
            OutputStream open = out;
            out = null;
            open.close();
        }
    }

    /** Copies documents, and remembers their names; failures to write are unchecked, those to read are not. */
    private final class Remembering implements DocumentReceiver {
        private final ExportWriter to;
        private byte[] current = {};

        Remembering(ExportWriter to) {
            this.to = to;
        }

        @Override
        public void begin(byte[] name, Description document) {
            current = name;
            Output.unchecked(() -> to.begin(name, document));
        }

        @Override
        public void value(long sequence, byte[] value) {
            Output.unchecked(() -> to.value(sequence, value));
        }

        @Override
        public void end(DocumentSum sum) {
            names.add(DocumentName.of(current));
            Output.unchecked(() -> to.end(sum));
        }

        @Override
        public void abandon() {
            Output.unchecked(to::abandon);
        }
    }
}
