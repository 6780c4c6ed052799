package io.caravan.server.cli.client;

import io.caravan.server.cli.common.Console;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Appends values to a document. */
@Command(
        name = "append",
        description = {
            "Appends values to a document, which begins to exist with its first one, and tells, when they are on the"
                    + " server's disk, the sequence of the first one and the one that the next value will get.",
            "The values are the words behind the name, or a file, or else the standard input. Many are sent in several"
                    + " requests, and lines at the latest when the input has no more of them at once: each request is appended as a whole or not at all, and a failure tells how far it came."
        },
        footer = {
            "  caravan append letters/1 'Dear Ada,' 'how are you?'",
            "  caravan append letters/1 --if-sequence 2 'Yours, Charles'",
            "  caravan append pictures --file picture.png",
            "  journalctl --follow | caravan append logs/today --lines"
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class AppendCommand extends ClientCommand {
    /** Stands for whatever sequence comes. */
    private static final long ANY = -1;

    @Parameters(index = "0", paramLabel = "NAME", description = "The document.")
    private String name;

    @Parameters(index = "1..*", paramLabel = "VALUE", arity = "0..*", description = "Values to append.")
    private List<String> words = List.of();

    @Option(names = "--file", paramLabel = "FILE", description = "Append what is in this file.")
    private @Nullable Path file;

    @Option(names = "--lines", description = "Append each line of the input as a value, and not all of it as one.")
    private boolean lines;

    @Option(
            names = "--if-sequence",
            paramLabel = "SEQUENCE",
            description = "Append only if the first value gets this sequence, 0 in a new document, and nobody appends"
                    + " between the values.")
    private @Nullable Long ifSequence;

    AppendCommand(Console console) {
        super(console);
    }

    @Override
    protected void run(Output output) throws IOException {
        check(words.isEmpty() || file == null, "VALUE and --file exclude each other");
        check(words.isEmpty() || !lines, "VALUE and --lines exclude each other");
        long sequence = atLeast(0, ifSequence, "--if-sequence", ANY);
        OptionalLong expected = sequence == ANY ? OptionalLong.empty() : OptionalLong.of(sequence);
        try (ServerConnection connection = connect();
                Progress progress = new Progress(err(), console().showsProgress(), "values");
                InputStream in = input()) {
            BatchAppend append = new BatchAppend(new Documents(connection), bytes(name), expected, progress);
            append.all(source(in, append));
            print(append, output);
        }
    }

    private InputStream input() throws IOException {
        // Whoever gave us the standard input closes it.
        return file != null
                ? Files.newInputStream(file)
                : new FilterInputStream(console().in()) {
                    @Override
                    public void close() {}
                };
    }

    private ValueSource source(InputStream in, BatchAppend append) throws IOException {
        if (!words.isEmpty()) {
            return ValueSource.of(words.stream().map(ClientCommand::bytes).toList());
        }
        return lines ? ValueSource.lines(in, append::sendBatch) : ValueSource.whole(in);
    }

    private void print(BatchAppend append, Output output) throws IOException {
        if (json()) {
            output.object(fields -> {
                fields.writeNumberField("first", append.first());
                fields.writeNumberField("next", append.next());
                fields.writeNumberField("values", append.values());
            });
        } else {
            output.line("first " + append.first() + ", next " + append.next());
        }
    }
}
