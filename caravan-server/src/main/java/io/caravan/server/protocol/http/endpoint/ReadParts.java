package io.caravan.server.protocol.http.endpoint;

import io.caravan.server.protocol.http.codec.HttpConfig;
import io.caravan.server.protocol.http.connection.Exchange;
import io.caravan.server.protocol.http.connection.Gate;
import io.caravan.server.protocol.http.connection.Readiness;
import java.util.concurrent.Executor;

/**
 * What reads of streams share.
 *
 * @param readers runs reads, which may wait
 * @param shared whether shared caches may keep what documents hold
 */
public record ReadParts(Readiness readiness, Executor readers, HttpConfig config, Cursors cursors, boolean shared) {

    /**
     * Runs part of a read on a reading thread, if the client's token has not been withdrawn since the last part. An
     * exception ends the exchange.
     */
    public void read(Exchange exchange, Runnable part) {
        readers.execute(() -> exchange.run(() -> {
            Gate.checkStillKnown(exchange.principal());
            part.run();
        }));
    }
}
