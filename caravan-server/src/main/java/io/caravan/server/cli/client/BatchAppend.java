package io.caravan.server.cli.client;

import io.caravan.server.cli.client.Documents.Sequences;
import io.caravan.server.cli.common.Progress;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * Appends any number of values in requests of bounded size, the next one when the one before it is durable. A source that
 * has to wait for its next value has those before it sent first, by {@link #sendBatch}.
 */
final class BatchAppend {
    /** Every server takes that much in one request. */
    private static final int BATCH_BYTES = 1024 * 1024;

    private static final int BATCH_VALUES = 4096;

    private final Documents documents;
    private final byte[] name;
    private final Progress progress;
    private final List<byte[]> batch = new ArrayList<>();
    private int batchBytes;
    private OptionalLong expected;
    private long first;
    private long next;
    private long values;

    /**
     * An append that has yet to begin.
     *
     * @param expected the sequence that the first value must get; those behind it must then follow each other
     */
    BatchAppend(Documents documents, byte[] name, OptionalLong expected, Progress progress) {
        this.documents = documents;
        this.name = name;
        this.expected = expected;
        this.progress = progress;
    }

    /**
     * Appends all values there are.
     *
     * @throws ClientException when there are none, or they cannot be appended; it tells how many were
     */
    void all(ValueSource source) throws IOException {
        try {
            for (byte[] value = source.next(); value != null; value = source.next()) {
                if (batchBytes + value.length > BATCH_BYTES || batch.size() == BATCH_VALUES) {
                    sendBatch();
                }
                batch.add(value);
                batchBytes += value.length;
            }
            sendBatch();
        } catch (ClientException refused) {
            throw values == 0 ? refused : refused.with("; " + done());
        } catch (ConnectionLostException lost) {
            throw ClientException.failed(
                    lost.getMessage() + "; " + done() + ", and whether the " + batch.size()
                            + " behind them were is not known",
                    lost);
        }
        if (values == 0) {
            throw ClientException.failed("there is nothing to append: the input has no lines");
        }
    }

    private String done() {
        return values + " values were appended" + (values == 0 ? "" : ", the last one as sequence " + (next - 1));
    }

    /** Sends the values that have been read; an exception is for {@link #all}, which tells how far it came. */
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

    /** Sequence of the first value. */
    long first() {
        return first;
    }

    /** Sequence after the last value's. */
    long next() {
        return next;
    }

    long values() {
        return values;
    }
}
