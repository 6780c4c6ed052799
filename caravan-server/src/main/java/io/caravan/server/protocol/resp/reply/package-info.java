/** Sends replies in the order of the requests, regardless of the order in which they are completed. */
@NullMarked
package io.caravan.server.protocol.resp.reply;

import org.jspecify.annotations.NullMarked;
