package io.caravan.server.cli.document;

import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.RespDocumentClient;
import io.caravan.server.cli.client.RespDocumentClient.Sequences;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.common.Progress;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * Appends any number of values in requests of bounded size, each sent after the values of the previous one are durable.
 * Before a source waits for its next value, it calls {@link #sendBatch}.
 */
final class BatchAppend {
    /** The maximum number of value bytes in a request with several values; every server accepts such a request. */
    private static final int BATCH_BYTES = 1024 * 1024;

    private static final int BATCH_VALUES = 4096;

    private final RespDocumentClient documents;
    private final byte[] name;
    private final Progress progress;
    private final List<byte[]> batch = new ArrayList<>();
    private int batchBytes;
    private OptionalLong expected;
    private long first;
    private long next;
    private long values;

    /**
     * Creates an append; sends nothing yet.
     *
     * @param expected the required sequence of the first value; the other values must follow without a gap
     */
    BatchAppend(RespDocumentClient documents, byte[] name, OptionalLong expected, Progress progress) {
        this.documents = documents;
        this.name = name;
        this.expected = expected;
        this.progress = progress;
    }

    /**
     * The result of an append.
     *
     * @param first the sequence of the first value
     * @param next the sequence after the last value
     */
    record Appended(long first, long next, long values) {}

    /**
     * Appends all values from a source.
     *
     * @throws ClientException if the source is empty, or a value cannot be appended; the message states the number of
     *     appended values
     */
    Appended all(ValueSource source) throws IOException {
        try {
            for (byte[] value = source.next(); value != null; value = source.next()) {
                if (batchBytes + value.length > BATCH_BYTES || batch.size() == BATCH_VALUES) {
                    sendBatch();
                }
                batch.add(value);
                batchBytes += value.length;
            }
            sendBatch();
        } catch (ClientException rejected) {
            throw values == 0 ? rejected : rejected.with("; " + done());
        } catch (ServerConnection.LostException lost) {
            throw ClientException.failed(
                    lost.getMessage() + "; " + done() + ", and the " + batch.size()
                            + " after them may or may not have been",
                    lost);
        }
        if (values == 0) {
            throw ClientException.failed("there is nothing to append: the input has no lines");
        }
        return new Appended(first, next, values);
    }

    private String done() {
        return values + " values were appended" + (values == 0 ? "" : ", the last one as sequence " + (next - 1));
    }

    /** Sends the values that have been read so far. {@link #all} handles exceptions. */
    void sendBatch() {
        if (batch.isEmpty()) {
            return;
        }
        Sequences appended = documents.append(name, batch, expected);
        if (values == 0) {
            first = appended.first();
        }
        next = appended.next();
        values += batch.size();
        if (expected.isPresent()) {
            expected = OptionalLong.of(next);
        }
        progress.add(batch.size(), batchBytes);
        batch.clear();
        batchBytes = 0;
    }
}
