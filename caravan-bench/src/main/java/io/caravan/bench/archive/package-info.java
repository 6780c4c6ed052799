/**
 * Measures archiving and restoring: the server, in its own process, archives to S3 servers on the same machine, beside
 * the AWS SDK with the same bytes.
 */
@NullMarked
package io.caravan.bench.archive;

import org.jspecify.annotations.NullMarked;
