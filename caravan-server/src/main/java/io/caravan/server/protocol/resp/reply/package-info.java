/**
 * Replies in the order of their requests, whichever thread completes them.
 */
@NullMarked
package io.caravan.server.protocol.resp.reply;

import org.jspecify.annotations.NullMarked;
