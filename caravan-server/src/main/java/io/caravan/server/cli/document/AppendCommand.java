package io.caravan.server.cli.document;

import io.caravan.server.cli.client.Chunk;
import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.DocumentClient.Sequences;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import java.io.IOException;
import java.io.InputStream;
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
            "The values are the words after NAME or, without them, the standard input. Many values are sent in several"
                    + " requests, each of which is appended entirely or not at all. If a request fails, the command"
                    + " reports how many values were appended."
        },
        footer = {
            "  caravan append letters/1 'Dear Ada,' 'how are you?'",
            "  caravan append letters/1 --if-sequence 2 'Yours, Charles'",
            "  caravan append pictures < picture.png",
            "  journalctl --follow | caravan append logs/today --lines"
        })
public final class AppendCommand extends ClientCommand {
    @Parameters(index = "0", paramLabel = "NAME", converter = NameConverter.class, description = "The document.")
    private String name;

    @Parameters(index = "1..*", paramLabel = "VALUE", arity = "0..*", description = "Values to append.")
    private List<String> words = List.of();

    @Option(
            names = "--lines",
            description = "Append each line of the standard input as a value, instead of the whole as one. Lines are"
                    + " sent whenever the input pauses.")
    private boolean lines;

    @Option(
            names = "--if-sequence",
            paramLabel = "SEQUENCE",
            description = "Append only if the first value gets this sequence, which is 0 in a new document, and all"
                    + " other values follow it directly.")
    private @Nullable Long ifSequence;

    /** The values that have been read and not sent yet. */
    private final Chunk batch = new Chunk();

    /** The required sequence of the next value, if one is given. */
    private OptionalLong expected = OptionalLong.empty();

    private long first;
    private long next;
    private long values;

    @Override
    protected void run(Output output) throws IOException {
        check(words.isEmpty() || !lines, "VALUE and --lines exclude each other");
        atLeast(0, ifSequence, "--if-sequence", 0);
        expected = ifSequence == null ? OptionalLong.empty() : OptionalLong.of(ifSequence);
        try (DocumentClient documents = documents();
                Progress progress = countProgress("values")) {
            Runnable send = () -> sendBatch(documents, progress);
            append(source(console().in(), send), send);
            output.print(
                    "first " + first + ", next " + next, Output.fields("first", first, "next", next, "values", values));
        }
    }

    private ValueSource source(InputStream in, Runnable beforeWait) throws IOException {
        if (!words.isEmpty()) {
            return ValueSource.of(words.stream().map(ClientCommand::bytes).toList());
        }
        if (lines) {
            return ValueSource.lines(in, beforeWait);
        }
        byte[] value = ValueSource.whole(in);
        // The input may be empty because a command before a pipe has failed.
        check(value.length > 0, "the standard input is empty, so nothing is appended; give an empty value as ''");
        return ValueSource.of(List.of(value));
    }

    /**
     * Appends all values from a source, in requests of bounded size, each sent after the values of the previous one are
     * durable. The exceptions state the number of appended values.
     *
     * @param send sends the values that have been read so far
     */
    private void append(ValueSource source, Runnable send) throws IOException {
        try {
            for (byte[] value = source.next(); value != null; value = source.next()) {
                if (!batch.hasRoomFor(value)) {
                    send.run();
                }
                batch.add(value);
            }
            send.run();
        } catch (ClientException rejected) {
            throw values == 0 ? rejected : rejected.with("; " + done());
        } catch (ServerConnection.LostException lost) {
            throw ClientException.failed(
                    lost.getMessage() + "; " + done() + ", and the "
                            + batch.values().size() + " after them may or may not have been",
                    lost);
        }
        check(values > 0, "there is nothing to append: the input has no lines");
    }

    private String done() {
        return values + " values were appended" + (values == 0 ? "" : ", the last one as sequence " + (next - 1));
    }

    private void sendBatch(DocumentClient documents, Progress progress) {
        List<byte[]> sent = batch.values();
        if (sent.isEmpty()) {
            return;
        }
        Sequences appended = documents.append(bytes(name), sent, expected);
        if (values == 0) {
            first = appended.first();
        }
        next = appended.next();
        values += sent.size();
        if (expected.isPresent()) {
            expected = OptionalLong.of(next);
        }
        progress.add(sent.size(), sent.stream().mapToLong(value -> value.length).sum());
        batch.take();
    }
}
