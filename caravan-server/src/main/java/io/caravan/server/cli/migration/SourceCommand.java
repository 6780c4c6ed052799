package io.caravan.server.cli.migration;

import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.common.Progress;
import java.io.IOException;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** A command that reads one document of the server, or all with a prefix. */
abstract class SourceCommand extends ClientCommand {
    @Parameters(
            paramLabel = "NAME",
            converter = NameConverter.class,
            arity = "0..1",
            description = "The document; without it, all documents whose names start with --prefix.")
    protected @Nullable String name;

    @Option(names = "--prefix", paramLabel = "PREFIX", description = "All documents whose names start with this.")
    protected @Nullable String prefix;

    protected final void checkSelection() {
        check(name == null || prefix == null, "NAME and --prefix exclude each other");
    }

    /** Returns the beginning of the names of all documents to read. */
    protected final byte[] allNames() {
        return bytes(Objects.requireNonNullElse(prefix, ""));
    }

    /**
     * Passes the documents to a receiver. Reports those that change too fast to be read; returns whether there were
     * none.
     *
     * @throws ClientException if the document does not exist, or a document may exist only in the archive
     */
    protected final boolean read(DocumentClient source, DocumentReceiver to, Progress progress) throws IOException {
        Exporter exporter = new Exporter(source, to, progress);
        if (name == null) {
            source.requireComplete();
            exporter.all(allNames(), Set.of());
        } else if (!exporter.one(bytes(name))) {
            throw ClientException.missing(name);
        }
        exporter.failures().forEach(this::printMessage);
        return exporter.failures().isEmpty();
    }
}
