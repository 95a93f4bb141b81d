"""One account shared by several processes: a desk that hands out slots and money, and its clients."""
