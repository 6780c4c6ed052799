/**
 * Measures archiving and restoring: the server, in its own process, archives to S3 servers on the same machine. The
 * results are compared with the AWS SDK transferring the same bytes.
 */
@NullMarked
package io.caravan.bench.archive;

import org.jspecify.annotations.NullMarked;
