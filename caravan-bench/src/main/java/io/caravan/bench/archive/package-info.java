/**
 * Measures archiving and restoring: the server, in its own process, archives to S3 servers on the same machine. The AWS
 * SDK with the same bytes is the comparison.
 */
@NullMarked
package io.caravan.bench.archive;

import org.jspecify.annotations.NullMarked;
