package io.caravan.torture.replay;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPInputStream;

/**
 * A recorded editing session.
 *
 * @param startContent the text before all transactions
 * @param endContent the text after all transactions
 * @param transactions lists of patches, applied in order
 */
record Trace(String startContent, String endContent, List<List<Patch>> transactions) {
    private static final int BUFFER_BYTES = 64 * 1024;

    /**
     * A replacement of part of the text; positions and lengths are in Unicode code points.
     *
     * @param position start of the change
     * @param deleted number of code points to delete
     * @param inserted the code points to insert
     */
    record Patch(int position, int deleted, int[] inserted) {}

    /**
     * Reads gzipped JSON with the fields {@code startContent}, {@code endContent}, and {@code txns}: a list of objects,
     * each with a {@code patches} list of {@code [position, deleted, inserted]} arrays. Skips other fields. Checks that
     * the transactions turn {@code startContent} into {@code endContent}.
     */
    static Trace read(Path file) throws IOException {
        try (InputStream in = new GZIPInputStream(new BufferedInputStream(Files.newInputStream(file)), BUFFER_BYTES)) {
            JsonNode json = new ObjectMapper().readTree(in);
            List<List<Patch>> transactions = new ArrayList<>();
            json.required("txns").forEach(transaction -> transactions.add(patches(transaction.path("patches"))));
            Trace trace = new Trace(
                    json.path("startContent").asText(), json.path("endContent").asText(), transactions);
            if (!trace.textAfter(transactions.size()).equals(TextBuffer.of(trace.endContent))) {
                throw new IOException(file + ": its transactions do not produce its endContent");
            }
            return trace;
        } catch (IllegalArgumentException malformed) {
            throw new IOException(file + " is not a recorded editing session", malformed);
        } catch (IndexOutOfBoundsException outside) {
            throw new IOException(file + ": a patch is outside the text", outside);
        }
    }

    private static List<Patch> patches(JsonNode json) {
        List<Patch> patches = new ArrayList<>();
        for (JsonNode patch : json) {
            int[] inserted = patch.required(2).asText().codePoints().toArray();
            patches.add(new Patch(patch.required(0).asInt(), patch.required(1).asInt(), inserted));
        }
        return List.copyOf(patches);
    }

    /** Returns the text after the first {@code count} transactions. */
    TextBuffer textAfter(int count) {
        TextBuffer text = TextBuffer.of(startContent);
        for (List<Patch> transaction : transactions.subList(0, count)) {
            transaction.forEach(text::apply);
        }
        return text;
    }
}
