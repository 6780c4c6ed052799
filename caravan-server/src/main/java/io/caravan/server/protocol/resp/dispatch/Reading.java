package io.caravan.server.protocol.resp.dispatch;

/**
 * A read that may take several turns on reading threads: whoever has to wait for a client, or for a change, lets its thread
 * go. Turns follow one another, perhaps on different threads; what one has written the next one sees.
 */
public interface Reading {

    /**
     * Takes a turn. What it throws is the answer, if none has been given.
     *
     * @return true when the answer has been given or will be, without another turn; false when {@link ReadContext#wake()}
     *     is left with somebody who will run it. The turn must do nothing more once it has been left
     */
    boolean proceed();
}
