package io.caravan.server.cli.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.Shards;
import io.caravan.catalog.CatalogEntry;
import io.caravan.catalog.DocumentName;
import io.caravan.inspect.ContentsReader;
import io.caravan.inspect.LogReader;
import io.caravan.server.cli.common.CliCommand.ReadOnly;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import io.caravan.server.cluster.Slots;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "dump",
        description = {
            "Prints the content of the files of a store, one JSON object on each line: the records of the log and the"
                    + " entries of the newest checkpoint. With NAME, prints one document, its values, and their places"
                    + " in the files.",
            "The store may be open or damaged: the command takes no lock and writes nothing. If a file is damaged, a"
                    + " line with \"error\" states the file and the position, and the rest of the content follows."
        },
        exitCodeList = {
            "0:the content was printed",
            "1:the store is damaged or cannot be read",
            "2:usage error",
            "3:there is no such document"
        },
        footer = {
            "  caravan dump letters | head",
            "  caravan dump letters --checkpoint | grep '\"type\":\"entry\"' | grep heap-0000000000000000",
            "  caravan dump letters letters/1"
        })
public final class DumpCommand extends StoreCommand implements ReadOnly {
    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "NAME",
            converter = NameConverter.class,
            description = "A document; if the store was not written by a server, the number of a list.")
    private @Nullable String name;

    @Option(names = "--checkpoint", description = "Print only the newest checkpoint, not the log.")
    private boolean checkpoint;

    @Option(
            names = "--values",
            description = "Also print the values of the log, as text, or in Base64 if they are not UTF-8.")
    private boolean values;

    @Override
    protected void run(Output output) throws IOException {
        check(name == null || !(checkpoint || values), "NAME excludes --checkpoint and --values");
        Path store = name == null ? oneStore() : storeOf(name);
        ContentsReader contents = ContentsReader.open(store);
        StorePrinter printer = new StorePrinter(output, values);
        boolean found;
        try (Progress progress = showProgress(() -> printer.lines() + " lines")) {
            found = name == null ? dumpFiles(store, contents, printer) : dumpDocument(contents, printer, name);
        }
        printer.print("end", "damage", printer.faults(), "moved", printer.moved());
        if (!found) {
            printMessage(directory() + " has no " + name);
        }
        exitWith(found || printer.exitCode() == DAMAGED ? printer.exitCode() : UNEXPECTED);
    }

    /** Returns the directory of the document's shard, or of the only store. */
    private Path storeOf(String document) {
        List<Path> shards = Shards.directories(directory());
        return shards.get(Slots.group(document.getBytes(UTF_8), shards.size()));
    }

    private boolean dumpFiles(Path store, ContentsReader contents, StorePrinter printer) throws IOException {
        printer.readCatalog(contents, entry -> {});
        if (!checkpoint) {
            long needed = contents.neededLogEnd();
            try (LogReader reader = LogReader.open(store, 0)) {
                while (reader.next(printer)) {
                    // Prints the next frame.
                }
                reader.requireReached(needed, printer);
                printer.print("logEnd", "lsn", reader.position(), "torn", reader.torn());
            }
        }
        contents.readCheckpoint(printer);
        return true;
    }

    private boolean dumpDocument(ContentsReader contents, StorePrinter printer, String wanted) throws IOException {
        DocumentName document = DocumentName.of(wanted);
        // The newest entry of the document.
        AtomicReference<@Nullable CatalogEntry> newest = new AtomicReference<>();
        boolean served = printer.readCatalog(contents, entry -> {
            if (entry.name().equals(document)) {
                newest.set(entry);
            }
        });
        CatalogEntry entry = newest.get();
        if (entry != null && entry.kind() != CatalogEntry.Kind.REMOVED) {
            printer.document(entry);
            return contents.readList(entry.id(), printer) || entry.kind() != CatalogEntry.Kind.WITH_LIST;
        }
        if (served || Shards.directories(directory()).size() > 1) {
            // A shard may never have contained a document.
            return false;
        }
        return contents.readList(listId(wanted), printer);
    }

    private long listId(String wanted) {
        try {
            return Long.parseLong(wanted);
        } catch (NumberFormatException noNumber) {
            throw misused("no server has written this store: name a list by its number");
        }
    }
}
