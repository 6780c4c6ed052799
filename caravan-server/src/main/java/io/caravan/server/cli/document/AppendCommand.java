package io.caravan.server.cli.document;

import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.RespDocumentClient;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import io.caravan.server.cli.document.BatchAppend.Appended;
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

@Command(
        name = "append",
        description = {
            "Appends values to a document, and creates the document if it does not exist. When the values are"
                    + " durable, prints the sequence of the first value and the sequence that the next value will"
                    + " get.",
            "The values are the words after NAME, or the content of --file, or the standard input. Many values are"
                    + " sent in several requests, each of which is appended entirely or not at all. If a request"
                    + " fails, the command reports how many values were appended."
        },
        footer = {
            "  caravan append letters/1 'Dear Ada,' 'how are you?'",
            "  caravan append letters/1 --if-sequence 2 'Yours, Charles'",
            "  caravan append pictures --file picture.png",
            "  journalctl --follow | caravan append logs/today --lines"
        })
public final class AppendCommand extends ClientCommand {
    @Parameters(index = "0", paramLabel = "NAME", description = "The document.")
    private String name;

    @Parameters(index = "1..*", paramLabel = "VALUE", arity = "0..*", description = "Values to append.")
    private List<String> words = List.of();

    @Option(names = "--file", paramLabel = "FILE", description = "Append the content of this file.")
    private @Nullable Path file;

    @Option(
            names = "--lines",
            description = "Append each line of the file or the standard input as a value, instead of the whole as"
                    + " one. Lines are sent whenever the input pauses.")
    private boolean lines;

    @Option(
            names = "--if-sequence",
            paramLabel = "SEQUENCE",
            description = "Append only if the first value gets this sequence, which is 0 in a new document, and all"
                    + " other values follow it directly.")
    private @Nullable Long ifSequence;

    @Override
    protected void run(Output output) throws IOException {
        check(words.isEmpty() || file == null, "VALUE and --file exclude each other");
        check(words.isEmpty() || !lines, "VALUE and --lines exclude each other");
        atLeast(0, ifSequence, "--if-sequence", 0);
        OptionalLong expected = ifSequence == null ? OptionalLong.empty() : OptionalLong.of(ifSequence);
        try (RespDocumentClient documents = documents();
                Progress progress = countProgress("values");
                InputStream in = input()) {
            BatchAppend append = new BatchAppend(documents, bytes(name), expected, progress);
            Appended appended = append.all(source(in, append));
            print(output, "first " + appended.first() + ", next " + appended.next(), appended);
        }
    }

    private InputStream input() throws IOException {
        // The standard input stays open.
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
        if (lines) {
            return ValueSource.lines(in, append::sendBatch);
        }
        byte[] value = ValueSource.whole(in);
        // The input may be empty because a command before a pipe has failed.
        check(
                value.length > 0 || file != null,
                "the standard input is empty, so nothing is appended; give an empty value as ''");
        return ValueSource.of(List.of(value));
    }
}
