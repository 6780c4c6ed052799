package io.caravan.bench.network;

import io.netty.handler.codec.http.HttpHeaders;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Reads a whole document with as many {@code GET} requests as the server requires, and counts the bytes. */
final class HttpDrain implements Drain {
    private static final String BEGINNING = "-1";
    private static final String UP_TO_DATE = "Stream-Up-To-Date";

    private final BigDocument document;

    HttpDrain(BigDocument document) {
        this.document = document;
    }

    @Override
    public long read(RunningServer server) throws IOException, InterruptedException {
        long bytes = 0;
        try (HttpClient client = new HttpClient(server.http())) {
            HttpLink link = client.connect();
            @Nullable String offset = BEGINNING;
            while (offset != null) {
                Answer answer = new Answer();
                link.send(Requests.read(BigDocument.NAME, offset), answer);
                HttpHeaders headers = answer.await();
                bytes += answer.bytes();
                offset = headers.contains(UP_TO_DATE) ? null : headers.get(Requests.NEXT_OFFSET);
            }
        }
        if (bytes != document.bytes()) {
            throw new IOException(bytes + " bytes of the document arrived, of " + document.bytes());
        }
        return bytes;
    }
}
