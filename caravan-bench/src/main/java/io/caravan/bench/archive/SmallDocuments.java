package io.caravan.bench.archive;

import io.caravan.bench.client.RespConnection;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.SplittableRandom;

/**
 * A set of documents to archive, each with 20 incompressible values.
 *
 * @param count number of documents
 */
record SmallDocuments(int count) {
    static final int VALUES = 20;
    static final int VALUE_BYTES = 200;

    private static final int AHEAD = 256;

    /** Appends the values of all documents. */
    void write(InetSocketAddress server) throws IOException {
        SplittableRandom random = new SplittableRandom(count);
        try (RespConnection connection = new RespConnection(server)) {
            int replied = 0;
            for (int document = 0; document < count; document++) {
                connection.write(request(document, random));
                if (document - replied == AHEAD) {
                    connection.flush();
                    for (; replied < document; replied++) {
                        connection.receiveReply();
                    }
                }
            }
            connection.flush();
            for (; replied < count; replied++) {
                connection.receiveReply();
            }
        }
    }

    private static byte[][] request(int document, SplittableRandom random) {
        byte[][] words = new byte[2 + VALUES][];
        words[0] = RespConnection.ascii("RPUSH");
        words[1] = RespConnection.ascii("document/" + document);
        for (int value = 0; value < VALUES; value++) {
            words[2 + value] = new byte[VALUE_BYTES];
            random.nextBytes(words[2 + value]);
        }
        return words;
    }
}
