package io.caravan.bench.network;

import io.caravan.bench.server.RespConnection;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A document of equally long values, written over RESP.
 *
 * @param bytes total length of all values
 */
record BigDocument(int valueBytes, long bytes) {
    static final String NAME = "document";

    private static final int REQUEST_BYTES = 1 << 20;
    /** Maximum number of outstanding requests. */
    private static final int AHEAD = 8;

    /** Number of values. */
    long count() {
        return bytes / valueBytes;
    }

    /** Appends all values. */
    void write(InetSocketAddress server) throws IOException {
        int perRequest = REQUEST_BYTES / valueBytes;
        byte[][] request = request(perRequest);
        long requests = count() / perRequest;
        try (RespConnection connection = new RespConnection(server)) {
            long sent = 0;
            for (long answered = 0; answered < requests; answered++) {
                for (; sent < requests && sent - answered < AHEAD; sent++) {
                    connection.send(request);
                }
                connection.receiveAnswer();
            }
        }
    }

    private byte[][] request(int values) {
        List<byte[]> words = new ArrayList<>(List.of(RespConnection.ascii("RPUSH"), RespConnection.ascii(NAME)));
        words.addAll(Collections.nCopies(values, new byte[valueBytes]));
        return words.toArray(byte[][]::new);
    }
}
