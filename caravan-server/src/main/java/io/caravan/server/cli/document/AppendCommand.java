package io.caravan.server.cli.document;

import io.caravan.StoreConfig;
import io.caravan.server.cli.client.Chunk;
import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.DocumentClient.Sequences;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Consumer;
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
    private static final int BLOCK_BYTES = 64 * 1024;

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
            append(console().in(), () -> send(documents, progress));
        }
        output.print(
                "first " + first + ", next " + next, Output.fields("first", first, "next", next, "values", values));
    }

    /**
     * Appends all values, in requests of bounded size, each sent after the values of the previous one are durable. The
     * exceptions state the number of appended values.
     *
     * @param send sends the values that have been read so far
     */
    private void append(InputStream in, Runnable send) throws IOException {
        try {
            if (!words.isEmpty()) {
                words.forEach(word -> add(bytes(word), send));
            } else if (lines) {
                readLines(in, send, line -> add(line, send));
            } else {
                byte[] value = readWhole(in);
                // The input may be empty because a command before a pipe has failed.
                check(
                        value.length > 0,
                        "the standard input is empty, so nothing is appended; give an empty value as ''");
                add(value, send);
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

    private void add(byte[] value, Runnable send) {
        if (!batch.hasRoomFor(value)) {
            send.run();
        }
        batch.add(value);
    }

    private void send(DocumentClient documents, Progress progress) {
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

    /**
     * Returns all bytes of the input as one value.
     *
     * @throws ClientException if the input is too long
     */
    static byte[] readWhole(InputStream in) throws IOException {
        byte[] value = in.readNBytes(StoreConfig.MAX_VALUE_BYTES + 1);
        checkLength(value.length, "the input");
        return value;
    }

    /**
     * Reads each line as a value, without its line feed; the last line may have none.
     *
     * @param beforeWait runs before each read of input that is not available yet
     * @throws ClientException if a line is too long
     */
    static void readLines(InputStream in, Runnable beforeWait, Consumer<byte[]> values) throws IOException {
        byte[] block = new byte[BLOCK_BYTES];
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        long number = 1;
        int length = 0;
        while (length >= 0) {
            int start = 0;
            for (int end = 0; end < length; end++) {
                if (block[end] == '\n') {
                    line.write(block, start, end - start);
                    checkLength(line.size(), "line " + number + " of the input");
                    values.accept(line.toByteArray());
                    line.reset();
                    start = end + 1;
                    number++;
                }
            }
            line.write(block, start, length - start);
            checkLength(line.size(), "line " + number + " of the input");
            if (in.available() == 0) {
                beforeWait.run();
            }
            length = in.read(block);
        }
        if (line.size() > 0) {
            values.accept(line.toByteArray());
        }
    }

    private static void checkLength(int length, String what) {
        if (length > StoreConfig.MAX_VALUE_BYTES) {
            throw ClientException.failed(what + " is longer than " + StoreConfig.MAX_VALUE_BYTES
                    + " bytes, more than any server accepts as one value; append lines with --lines, or split it");
        }
    }
}
