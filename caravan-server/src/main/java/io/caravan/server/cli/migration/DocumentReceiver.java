package io.caravan.server.cli.migration;

import io.caravan.server.cli.client.DocumentClient.Description;
import java.io.IOException;

/**
 * Receives documents one after another. For each document, the caller begins it, passes its values in order, and then
 * ends or abandons it.
 */
interface DocumentReceiver {
    /** Begins a document; the previous one has been ended or abandoned. */
    void begin(byte[] name, Description document) throws IOException;

    void value(byte[] value) throws IOException;

    void end() throws IOException;

    /** Abandons the document, whose remaining values will not arrive. The values received so far must be discarded. */
    void abandon() throws IOException;
}
